/**
 * Lets a model write its working memory. It is told of it when the next question is asked: until then
 * it has seen itself write.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { MAX_PATCH_DEPTH, applyMergePatch } from '../../memory/versioned-layers/json-merge-patch.ts'
import {
  createWorkingMemoryCheck,
  type WorkingMemoryCheck,
} from '../../memory/versioned-layers/check-working-memory-value.ts'
import { saveNextVersion } from '../../memory/versioned-layers/save-next-version.ts'
import { resolveVersionLocation } from '../../memory/versioned-layers/load-and-render-versions.ts'
import {
  readWorkingMemory,
  MAX_WORKING_MEMORY_CHARS,
  WORKING_MEMORY,
} from '../../memory/versioned-layers/working-memory-layer.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const updateWorkingMemoryTool: GatewayTool = {
  tool: {
    type: 'function',
    name: 'update_working_memory',
    description:
      'Updates your working memory: a JSON object that you are shown with later messages. Keep in it what you will need again, such as goals, decisions, names and preferences. Objects are merged, arrays and other values replaced; null removes a field.',
    parameters: {
      type: 'object',
      properties: {
        changes: {
          type: 'object',
          description: 'The fields to set, change or (with null) remove.',
          additionalProperties: true,
        },
      },
      required: ['changes'],
      additionalProperties: false,
    },
    strict: false,
  },
  moreWords: ({ layers: { schema } }) =>
    schema === null ? '' : `As a whole it must match this JSON Schema: ${JSON.stringify(schema)}`,
  isOffered: ({ policy, mayKeep = true }) => policy.layers.workingMemory && mayKeep,
  async run({ changes }, { items, policy, caller, ports, memory }) {
    if (!isObject(changes)) return '`changes` must be a JSON object.'
    const scope = { owner: caller, rules: policy.layers, thread: memory?.thread ?? null }
    const { schema } = policy.layers
    const misfit = schema === null ? null : await createWorkingMemoryCheck(schema)
    const place = resolveVersionLocation(WORKING_MEMORY, scope)
    if (place === null || memory === undefined) return 'Nothing can be kept of this conversation.'
    let fault = ''
    const writing = { ...memory, place, round: findRoundStarts(items).length }
    const kept = await saveNextVersion(
      writing,
      (before) => {
        const changed = changedMemory(readWorkingMemory(before?.body ?? {}), changes, misfit)
        if (typeof changed !== 'string') return { memory: changed }
        fault = changed
        return null
      },
      ports,
    )
    return kept === null ? fault : `Kept. ${sizeOf(readWorkingMemory(kept))}`
  },
}

/** The memory with the changes, or what is wrong with them. */
function changedMemory(
  before: JsonObject,
  changes: JsonObject,
  misfit: WorkingMemoryCheck | null,
): JsonObject | string {
  const after = applyMergePatch(before, changes)
  if (after === null) return `Not kept: it is nested more than ${MAX_PATCH_DEPTH} levels deep.`
  const { length } = JSON.stringify(after)
  if (length <= MAX_WORKING_MEMORY_CHARS) {
    const fault = misfit?.(after) ?? null
    return fault === null ? after : `Not kept: it does not match its JSON Schema. ${fault}`
  }
  return `Not kept: with this the working memory would have ${length} characters as JSON, and ${MAX_WORKING_MEMORY_CHARS} is the most. Remove what is no longer needed with null, or be brief.`
}

function sizeOf(memory: JsonObject): string {
  return `The working memory has ${JSON.stringify(memory).length} of ${MAX_WORKING_MEMORY_CHARS} characters now.`
}
