/**
 * Defines the working memory layer: a JSON object that the model updates with a gateway tool. The
 * prompt contains it as JSON, and later changes as a JSON Merge Patch.
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

/**
 * Limit for the serialized JSON. A value of this size fits completely into the default token limit
 * of the layers.
 */
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

/**
 * Renders the memory as JSON. If it is too long, fields that do not fit are omitted in order, and a
 * sentence says so.
 */
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
