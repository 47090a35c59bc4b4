/**
 * Working memory: a JSON object that the model keeps for itself, by a tool of the house. It is told as
 * JSON, and what of it changed as what has to be put into it.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { MemoryLayer } from '../memory-layer-interface.ts'
import { createMergePatch } from './json-merge-patch.ts'
import {
  resolveVersionedBand,
  touchVersions,
  renderVersions,
  resolveVersionLocation,
  type StateRenderer,
} from './load-and-render-versions.ts'

export const WORKING_MEMORY = 'working_memory'

/** As JSON. So much is always told as a whole, where the layers may have what they usually have. */
export const MAX_WORKING_MEMORY_CHARS = 4000

export const workingMemoryLayer: MemoryLayer = {
  name: WORKING_MEMORY,
  slot: 100,
  isEnabled: (rules) => rules.workingMemory,
  band: resolveVersionedBand,
  minTokens: 200,
  maxTokens: 1500,
  timeoutMs: 500,
  recall: (context) => renderVersions(context, WORDS),
  async update(context) {
    const place = resolveVersionLocation(WORKING_MEMORY, context)
    if (place === null) return
    await touchVersions(place, await context.ports.layers.loadVersions(place), context)
  },
}

export function readWorkingMemory(body: JsonObject): JsonObject {
  const { memory } = body
  return isObject(memory) ? memory : {}
}

const WORDS: StateRenderer<JsonObject> = {
  layer: WORKING_MEMORY,
  read: readWorkingMemory,
  tell: renderWorkingMemory,
  tellChange(before, after) {
    const changes = createMergePatch(before ?? {}, after)
    if (Object.keys(changes).length === 0) return ''
    return `These fields have changed since; null means removed:\n${JSON.stringify(changes)}`
  },
}

/** What is too long is left out field by field, in their order, and named. */
export function renderWorkingMemory(memory: JsonObject, tokens: number): string {
  if (Object.keys(memory).length === 0) return ''
  const whole = JSON.stringify(memory)
  if (estimateTokens(whole) <= tokens) return whole
  const kept: Record<string, JsonObject[string]> = {}
  let left = tokens - estimateTokens(LEFT_OUT)
  for (const [name, value] of Object.entries(memory)) {
    const size = estimateTokens(JSON.stringify({ [name]: value }))
    if (size > left) continue
    kept[name] = value
    left -= size
  }
  return Object.keys(kept).length === 0 ? '' : `${JSON.stringify(kept)}${LEFT_OUT}`
}

const LEFT_OUT = '\n(Not all of it is shown: it is too long.)'
