/**
 * What an error of this wire means. OpenAI and its likes send `{error: {message, type, param, code}}`,
 * others numbers for codes, bare strings, `detail`, or a page of HTML.
 */
import type { Failure } from '../../conversation/event.ts'
import { isObject, type JsonObject } from '../../conversation/json.ts'

export function failure(status: number, body: JsonObject | string): Failure {
  if (!isObject(body)) return failureOfError({ message: isPage(body) ? '' : body.trim() }, status)
  const { error, message, detail } = body
  if (isObject(error)) return failureOfError(error, status)
  const words = [error, message, detail].find((words) => typeof words === 'string')
  const asJson = detail === undefined ? '' : JSON.stringify(detail)
  return failureOfError({ ...body, message: words ?? asJson }, status)
}

/**
 * By its code, or by its words, for the code may be missing: sealed reasoning is read only by the
 * organisation and under the id that it was sealed for.
 */
export function refusesReasoning({ status, code, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  if (code === 'invalid_encrypted_content') return true
  const words = message.toLowerCase()
  if (words.includes('not issued to this caller')) return true
  return /encrypted[ _]content/.test(words) && SAID_OF_SEALS.test(words)
}

const SAID_OF_SEALS = /could not be|did not match|does not match|invalid|failed to/

/** An error object, from a body or from a stream. Where there is no status, its code tells it. */
export function failureOfError(error: JsonObject, status: number | null): Failure {
  const code = wordOf(error['code']) ?? (status === 429 ? 'rate_limit_exceeded' : null)
  const known = status ?? statusOf(code ?? wordOf(error['type']) ?? '')
  const message = wordOf(error['message'])
  return {
    status: known,
    type: wordOf(error['type']) ?? (known >= 500 ? 'server_error' : 'invalid_request_error'),
    code,
    message: message ?? `The upstream answered with status ${known} and no explanation.`,
    param: wordOf(error['param']),
  }
}

/** Clients expect strings. */
function wordOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A proxy's page says nothing that a person could use. */
function isPage(text: string): boolean {
  return /^\s*</.test(text)
}

function statusOf(word: string): number {
  if (/^[45]\d\d$/.test(word)) return Number(word)
  const known = STATUS.get(word)
  if (known !== undefined) return known
  return /^(?:invalid|unsupported|image|empty|failed_to_download)_/.test(word) ? 400 : 500
}

const STATUS: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['usage_not_included', 429],
  ['invalid_api_key', 401],
  ['server_is_overloaded', 503],
  ['context_length_exceeded', 400],
  ['bio_policy', 400],
  ['cyber_policy', 400],
  ['data_residency_mismatch', 400],
  ['misalignment_policy_violation', 400],
])
