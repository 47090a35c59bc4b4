/**
 * Gateway tool that lets a model change its working memory. The prompt contains the new version from the
 * next user message on. Until then, the model sees its changes in the calls.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import {
  MAX_NESTING_DEPTH,
  applyMergePatch,
} from '../../memory/versioned-layers/json-merge-patch.ts'
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
import { createFunctionTool } from './create-function-tool.ts'
import type { GatewayTool } from './gateway-tool-interface.ts'

export const updateWorkingMemoryTool: GatewayTool = {
  tool: createFunctionTool({
    name: 'update_working_memory',
    description:
      'Updates your working memory: a JSON object that you are shown with later messages. Keep in it what you will need again, such as goals, decisions, names and preferences. Objects are merged, arrays and other values replaced; null removes a field.',
    properties: {
      changes: {
        type: 'object',
        description: 'The fields to set, change or (with null) remove.',
        additionalProperties: true,
      },
    },
    required: ['changes'],
  }),
  extendDescription: ({ layers: { schema } }) =>
    schema === null ? '' : `As a whole it must match this JSON Schema: ${JSON.stringify(schema)}`,
  isOffered: ({ policy, mayStore = true }) => policy.layers.workingMemory && mayStore,
  async run({ changes }, { items, policy, caller, ports, memoryThread }) {
    if (!isObject(changes)) return '`changes` must be a JSON object.'
    const scope = { owner: caller, rules: policy.layers, thread: memoryThread?.thread ?? null }
    const { schema } = policy.layers
    const checkSchema = schema === null ? null : await createWorkingMemoryCheck(schema)
    const location = resolveVersionLocation(WORKING_MEMORY, scope)
    if (location === null || memoryThread === undefined)
      return 'Nothing can be kept of this conversation.'
    let problem = ''
    const saving = { ...memoryThread, location, round: findRoundStarts(items).length }
    const saved = await saveNextVersion(
      saving,
      (before) => {
        const changed = applyChanges(readWorkingMemory(before?.body ?? {}), changes, checkSchema)
        if (typeof changed !== 'string') return { memory: changed }
        problem = changed
        return null
      },
      ports,
    )
    if (saved === null) return problem
    const { length } = JSON.stringify(readWorkingMemory(saved))
    return `Kept. The working memory has ${length} of ${MAX_WORKING_MEMORY_CHARS} characters now.`
  },
}

/** Applies the changes. Returns the new working memory, or a text that says why it is invalid. */
function applyChanges(
  before: JsonObject,
  changes: JsonObject,
  checkSchema: WorkingMemoryCheck | null,
): JsonObject | string {
  const after = applyMergePatch(before, changes)
  if (after === null) return `Not kept: it is nested more than ${MAX_NESTING_DEPTH} levels deep.`
  const { length } = JSON.stringify(after)
  if (length <= MAX_WORKING_MEMORY_CHARS) {
    const problem = checkSchema?.(after) ?? null
    return problem === null ? after : `Not kept: it does not match its JSON Schema. ${problem}`
  }
  return `Not kept: with this the working memory would have ${length} characters as JSON, and ${MAX_WORKING_MEMORY_CHARS} is the most. Remove what is no longer needed with null, or be brief.`
}
