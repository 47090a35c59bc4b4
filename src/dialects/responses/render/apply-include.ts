/**
 * What of a kept item is shown only to who asks for it with `include`. Nothing of it is lost: it is
 * stored, and left out when the item is read. Images are always shown; sealed reasoning is a matter
 * of `reasoning-visibility.ts`.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

export function applyInclude(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { type } = item
  return typeof type === 'string' ? (RULES.get(type)?.(item, include) ?? item) : item
}

type Rule = (item: JsonObject, include: ReadonlySet<string>) => JsonObject

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['message', withoutLogprobs],
  ['file_search_call', without('results', 'file_search_call.results')],
  ['code_interpreter_call', without('outputs', 'code_interpreter_call.outputs')],
  ['web_search_call', webSearch],
  ['computer_call_output', screenshot],
])

function without(field: string, word: string): Rule {
  return (item, include) =>
    item[field] === undefined || include.has(word) ? item : patchObject(item, { [field]: null })
}

function withoutLogprobs(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { content } = item
  if (include.has('message.output_text.logprobs') || !Array.isArray(content)) return item
  const parts = (content as readonly Json[]).map((part) => {
    if (!isObject(part) || !Array.isArray(part['logprobs'])) return part
    return part['logprobs'].length === 0 ? part : { ...part, logprobs: [] }
  })
  return parts.every((part, at) => part === content[at])
    ? item
    : patchObject(item, { content: parts })
}

function webSearch(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const shown = without('results', 'web_search_call.results')(item, include)
  const { action } = shown
  if (include.has('web_search_call.action.sources') || !isObject(action)) return shown
  return patchObject(shown, { action: patchObject(action, { sources: undefined }) })
}

function screenshot(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { output } = item
  if (include.has('computer_call_output.output.image_url') || !isObject(output)) return item
  return patchObject(item, { output: patchObject(output, { image_url: undefined }) })
}
