/**
 * Removes fields from a stored item that a client gets only if it requests them with `include`,
 * e.g. the results of a file search (`file_search_call.results`). Images in messages stay.
 * Encrypted reasoning is left to `reasoning-visibility.ts`.
 */
import { patchList, patchObject } from '../../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

export function removeUnrequestedFields(
  item: JsonObject,
  include: ReadonlySet<string>,
): JsonObject {
  const { type } = item
  return typeof type === 'string' ? (INCLUDE_RULES.get(type)?.(item, include) ?? item) : item
}

type IncludeRule = (item: JsonObject, include: ReadonlySet<string>) => JsonObject

const INCLUDE_RULES: ReadonlyMap<string, IncludeRule> = new Map<string, IncludeRule>([
  ['message', filterLogprobs],
  ['file_search_call', createFieldRule('results', 'file_search_call.results')],
  ['code_interpreter_call', createFieldRule('outputs', 'code_interpreter_call.outputs')],
  ['web_search_call', filterWebSearch],
  ['computer_call_output', filterScreenshot],
])

/** Creates a rule that sets a field to `null` unless `include` contains `path`. */
function createFieldRule(field: string, path: string): IncludeRule {
  return (item, include) =>
    item[field] === undefined || include.has(path) ? item : patchObject(item, { [field]: null })
}

function filterLogprobs(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { content } = item
  if (include.has('message.output_text.logprobs') || !Array.isArray(content)) return item
  const parts = patchList<Json>(content, (part) => {
    if (!isObject(part) || !Array.isArray(part['logprobs'])) return part
    return part['logprobs'].length === 0 ? part : { ...part, logprobs: [] }
  })
  return patchObject(item, { content: parts })
}

function filterWebSearch(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const filtered = createFieldRule('results', 'web_search_call.results')(item, include)
  const { action } = filtered
  if (include.has('web_search_call.action.sources') || !isObject(action)) return filtered
  return patchObject(filtered, { action: patchObject(action, { sources: undefined }) })
}

function filterScreenshot(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { output } = item
  if (include.has('computer_call_output.output.image_url') || !isObject(output)) return item
  return patchObject(item, { output: patchObject(output, { image_url: undefined }) })
}
