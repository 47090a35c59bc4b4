/**
 * Removes fields from a stored item that a client gets only if it requests them with `include`,
 * e.g. the results of a file search (`file_search_call.results`).
 */
import { patchList, patchObject } from '../../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

export function removeUnrequestedFields(
  item: JsonObject,
  include: ReadonlySet<string>,
): JsonObject {
  let filtered = item
  for (const [value, rule] of Object.entries(INCLUDE_RULES)) {
    if (rule !== null && rule.itemType === item['type'] && !include.has(value))
      filtered = rule.remove(filtered)
  }
  return filtered
}

interface IncludeRule {
  readonly itemType: string
  readonly remove: (item: JsonObject) => JsonObject
}

/** OpenAI's values of `include`, with the field that items lack without the value. */
export const INCLUDE_RULES = {
  'message.output_text.logprobs': { itemType: 'message', remove: removeLogprobs },
  'file_search_call.results': createFieldRule('file_search_call', 'results'),
  'code_interpreter_call.outputs': createFieldRule('code_interpreter_call', 'outputs'),

  'web_search_call.results': createFieldRule('web_search_call', 'results'),
  'web_search_call.action.sources': { itemType: 'web_search_call', remove: removeSources },
  'computer_call_output.output.image_url': {
    itemType: 'computer_call_output',
    remove: removeScreenshot,
  },
  // Images in messages stay.
  'message.input_image.image_url': null,
  // `reasoning-visibility.ts` decides about encrypted reasoning.
  'reasoning.encrypted_content': null,
} satisfies Readonly<Record<string, IncludeRule | null>>

/** Creates a rule that sets a field to `null`. */
function createFieldRule(itemType: string, field: string): IncludeRule {
  return {
    itemType,
    remove: (item) => (item[field] === undefined ? item : patchObject(item, { [field]: null })),
  }
}

function removeLogprobs(item: JsonObject): JsonObject {
  const { content } = item
  if (!Array.isArray(content)) return item
  const parts = patchList<Json>(content, (part) => {
    if (!isObject(part) || !Array.isArray(part['logprobs'])) return part
    return part['logprobs'].length === 0 ? part : { ...part, logprobs: [] }
  })
  return patchObject(item, { content: parts })
}

function removeSources(item: JsonObject): JsonObject {
  const { action } = item
  if (!isObject(action)) return item
  return patchObject(item, { action: patchObject(action, { sources: undefined }) })
}

function removeScreenshot(item: JsonObject): JsonObject {
  const { output } = item
  if (!isObject(output)) return item
  return patchObject(item, { output: patchObject(output, { image_url: undefined }) })
}
