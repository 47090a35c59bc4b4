/**
 * Removes the optional parameters that an upstream's error message names, so that the request can
 * be sent again. Parameters that change the meaning of a request, e.g. `max_tokens`, `stop`,
 * `tools`, are not removed.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { EncodedRequest } from '../provider-interface.ts'
import { replaceEncodedBody } from './replace-encoded-body.ts'

const OPTIONAL_PARAMETERS =
  `stream_options parallel_tool_calls prompt_cache_key prompt_cache_retention safety_identifier
  service_tier verbosity reasoning_effort top_logprobs logprobs logit_bias presence_penalty
  frequency_penalty repetition_penalty top_k min_p top_p temperature seed user`.split(/\s+/)

/**
 * The `why` of the note about a removed parameter. The value is public, so it still contains
 * "refused".
 */
export const REJECTED_BY_UPSTREAM = 'refused-by-upstream'

/** Returns the request without the parameters that the failure names; `null` if it names none. */
export function dropRejectedParameters(
  encoded: EncodedRequest,
  failure: Failure,
): EncodedRequest | null {
  if (failure.status !== 400 && failure.status !== 422) return null
  const { body } = encoded
  const rejected = OPTIONAL_PARAMETERS.filter((name) => name in body && isNamedIn(name, failure))
  if (rejected.length === 0) return null
  const notes = rejected.map((field) => ({
    did: 'dropped' as const,
    field,
    why: REJECTED_BY_UPSTREAM,
    detail: 'The upstream rejected this parameter; the request was sent again without it.',
  }))
  const request = replaceEncodedBody(encoded, omitFields(body, rejected))
  return { ...request, notes: [...encoded.notes, ...notes] }
}

/**
 * Returns the request without the parameters that this upstream rejected in an earlier request for
 * the same answer. `notes` are the notes of that request.
 */
export function dropPreviouslyRejectedParameters(
  encoded: EncodedRequest,
  notes: readonly Note[],
): EncodedRequest {
  const rejected = notes.filter(({ why }) => why === REJECTED_BY_UPSTREAM).map(({ field }) => field)
  if (rejected.length === 0) return encoded
  return replaceEncodedBody(encoded, omitFields(encoded.body, rejected))
}

function omitFields(body: JsonObject, rejected: readonly (string | undefined)[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !rejected.includes(name)))
}

/**
 * True if the failure names the parameter. Compares complete names: `top_pages` does not contain
 * `top_p`.
 */
function isNamedIn(name: string, { param, message }: Failure): boolean {
  return param === name || new RegExp(`(?<![\\w.])${name}(?!\\w)`).test(message)
}
