/**
 * Takes out of a request the optional parameters that an upstream's refusal names. Only what shapes
 * sampling may go: without `max_tokens`, `stop` or `tools` a request means something else.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { EncodedRequest } from '../provider-interface.ts'
import { replaceRequestBody } from './replace-body.ts'

const OPTIONAL = [
  'stream_options',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'verbosity',
  'reasoning_effort',
  'top_logprobs',
  'logprobs',
  'logit_bias',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'top_k',
  'min_p',
  'top_p',
  'temperature',
  'seed',
  'user',
] as const

/** The reason in a note that holds for as long as the answer is asked for. */
export const REJECTED_BY_UPSTREAM = 'refused-by-upstream'

/** `null` when the refusal is about something else. */
export function dropRejectedParameters(
  encoded: EncodedRequest,
  failure: Failure,
): EncodedRequest | null {
  if (failure.status !== 400 && failure.status !== 422) return null
  const { body } = encoded
  const refused = OPTIONAL.filter((name) => name in body && isNamed(name, failure))
  if (refused.length === 0) return null
  const notes = refused.map((field) => ({
    did: 'dropped' as const,
    field,
    why: REJECTED_BY_UPSTREAM,
    detail: 'The upstream refused this parameter, and was asked again without it.',
  }))
  const asked = replaceRequestBody(encoded, without(body, refused))
  return { ...asked, notes: [...encoded.notes, ...notes] }
}

/**
 * What the same upstream is asked next for the same answer: without what it has refused already, which
 * the notes on the request before tell.
 */
export function dropPreviouslyRejectedParameters(
  encoded: EncodedRequest,
  notes: readonly Note[],
): EncodedRequest {
  const refused = notes.filter(({ why }) => why === REJECTED_BY_UPSTREAM).map(({ field }) => field)
  if (refused.length === 0) return encoded
  return replaceRequestBody(encoded, without(encoded.body, refused))
}

function without(body: JsonObject, refused: readonly (string | undefined)[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !refused.includes(name)))
}

/** As a whole word: `top_p` is not named by `top_pages`. */
function isNamed(name: string, { param, message }: Failure): boolean {
  return param === name || new RegExp(`(?<![\\w.])${name}(?!\\w)`).test(message)
}
