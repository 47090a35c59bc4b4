/**
 * Takes out of a request the optional parameters that an upstream's refusal names. Only what shapes
 * sampling may go: without `max_tokens`, `stop` or `tools` a request means something else.
 */
import type { Failure } from '../conversation/event.ts'
import { isObject, type JsonObject } from '../conversation/json.ts'
import type { Encoded } from './provider.ts'

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

export const REFUSED = 'refused-by-upstream'

/** `null` when the refusal is about something else. */
export function withoutRefused(encoded: Encoded, failure: Failure): Encoded | null {
  if (failure.status !== 400 && failure.status !== 422) return null
  const body = bodyOf(encoded)
  const refused = OPTIONAL.filter((name) => name in body && isNamed(name, failure))
  if (refused.length === 0) return null
  const rest = Object.fromEntries(
    Object.entries(body).filter(([name]) => !refused.some((gone) => gone === name)),
  )
  const notes = refused.map((field) => ({
    did: 'dropped' as const,
    field,
    why: REFUSED,
    detail: 'The upstream refused this parameter, and was asked again without it.',
  }))
  return { ...encoded, body: rest, notes: [...encoded.notes, ...notes] }
}

function bodyOf({ body }: Encoded): JsonObject {
  if (!(body instanceof Uint8Array)) return body
  const json: unknown = JSON.parse(new TextDecoder().decode(body))
  return isObject(json) ? json : {}
}

/** As a whole word: `top_p` is not named by `top_pages`. */
function isNamed(name: string, { param, message }: Failure): boolean {
  return param === name || new RegExp(`(?<![\\w.])${name}(?!\\w)`).test(message)
}
