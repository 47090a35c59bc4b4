/**
 * Defines the working memory layer: a JSON object that the model updates with a gateway tool. The
 * prompt contains the object as JSON, and later changes as a JSON Merge Patch.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { MemoryLayer } from '../memory-layer-interface.ts'
import { createMergePatch } from './json-merge-patch.ts'
import {
  resolveVersionedStability,
  touchVersions,
  renderVersions,
  resolveVersionLocation,
  type MemoryRenderer,
} from './load-and-render-versions.ts'

export const WORKING_MEMORY = 'working_memory'

/**
 * Max number of characters of the memory as JSON. With the default token limit of the layers, a
 * memory of this size is still sent completely.
 */
export const MAX_WORKING_MEMORY_CHARS = 4000

export const workingMemoryLayer: MemoryLayer = {
  name: WORKING_MEMORY,
  order: 100,
  isEnabled: (rules) => rules.workingMemory,
  getStability: resolveVersionedStability,
  minTokens: 200,
  maxTokens: 1500,
  timeoutMs: 500,
  loadBlock: (context) => renderVersions(context, RENDERER),
  async update(context) {
    const location = resolveVersionLocation(WORKING_MEMORY, context)
    if (location === null) return
    await touchVersions(location, await context.ports.layers.loadVersions(location), context)
  },
}

export function readWorkingMemory(body: JsonObject): JsonObject {
  const { memory } = body
  return isObject(memory) ? memory : {}
}

const RENDERER: MemoryRenderer<JsonObject> = {
  layer: WORKING_MEMORY,
  readMemory: readWorkingMemory,
  renderMemory: renderWorkingMemory,
  renderChange(before, after) {
    const changes = createMergePatch(before ?? {}, after)
    if (Object.keys(changes).length === 0) return ''
    return `These fields have changed since; null means removed:\n${JSON.stringify(changes)}`
  },
}

/**
 * Renders the memory as JSON of at most `tokens` estimated tokens. Top-level fields that do not fit
 * are omitted, and a notice says so. Returns `''` for an empty memory, or if no field fits.
 */
export function renderWorkingMemory(memory: JsonObject, tokens: number): string {
  if (Object.keys(memory).length === 0) return ''
  const json = JSON.stringify(memory)
  if (estimateTokens(json) <= tokens) return json
  const fittingFields: Record<string, JsonObject[string]> = {}
  let remainingTokens = tokens - estimateTokens(OMISSION_NOTICE)
  for (const [name, value] of Object.entries(memory)) {
    const size = estimateTokens(JSON.stringify({ [name]: value }))
    if (size > remainingTokens) continue
    fittingFields[name] = value
    remainingTokens -= size
  }
  return Object.keys(fittingFields).length === 0
    ? ''
    : `${JSON.stringify(fittingFields)}${OMISSION_NOTICE}`
}

const OMISSION_NOTICE = '\n(Not all of it is shown: it is too long.)'
