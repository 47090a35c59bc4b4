/**
 * Adds the required fields that a response object of a server other than OpenAI's lacks, because strict clients reject
 * the object without them. Fields that the server sent stay as they are.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import {
  INITIAL_PROGRESS,
  renderProgressFields,
  renderRequestFields,
  type ResponseStatus,
} from '../render/render-response-fields.ts'

/** `status`: the status of a response object that has none. */
export function addMissingResponseFields(
  response: JsonObject,
  status: ResponseStatus,
  answerContext: AnswerContext,
): JsonObject {
  // `user` is optional, and `null` in it would be wrong.
  const { user: _user, ...requestFields } = renderRequestFields(answerContext)
  const rendered: JsonObject = {
    ...renderProgressFields({ ...INITIAL_PROGRESS, status }, answerContext),
    output: [],
    ...requestFields,
  }
  const missing = Object.entries(rendered).filter(([name]) => response[name] === undefined)
  return patchObject(response, {
    ...Object.fromEntries(missing),
    usage: completeUsage(response['usage'] ?? null),
    text: completeText(response['text'], rendered['text']),
  })
}

function completeUsage(usage: Json): Json {
  if (!isObject(usage)) return usage
  const { input_tokens_details: input, output_tokens_details: output } = usage
  return patchObject(usage, {
    input_tokens_details: addMissing(input, { cached_tokens: 0, cache_write_tokens: 0 }),
    output_tokens_details: addMissing(output, { reasoning_tokens: 0 }),
  })
}

function addMissing(details: Json | undefined, defaults: JsonObject): JsonObject {
  return isObject(details) ? patchObject(details, { ...defaults, ...details }) : defaults
}

function completeText(text: Json | undefined, rendered: Json | undefined): Json | undefined {
  return isObject(text) && isObject(rendered)
    ? patchObject(text, { ...rendered, ...text })
    : rendered
}
