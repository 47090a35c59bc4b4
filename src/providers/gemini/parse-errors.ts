/**
 * Errors of Google's APIs in OpenAI's shape. They come as the body of an answer with an error
 * status, inside a stream that began with 200, and either way sometimes wrapped in an array.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'
import type { GeminiError } from './api-types.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  const error = findError(typeof body === 'string' ? parsed(body) : body)
  if (error !== null) return parseError(error, status)
  const words = typeof body === 'string' ? plainWords(body) : ''
  if (words === '') return createUnexplainedFailure(status, typeof body === 'string' ? body : '')
  return shaped({}, status, `The upstream answered with status ${status}: ${words}`)
}

/** A signature that is missing, corrupted, or of another model or route. */
export function refusesReasoning({ status, code, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  return code === 'invalid_encrypted_content' || SIGNATURE.test(message)
}

const SIGNATURE = /thought.?signature/i

/** The error that a body or a chunk consists of, `null` if it is none. */
export function findError(value: unknown): GeminiError | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(first) || first['error'] === undefined || first['error'] === null) return null
  const error = first['error']
  return isObject(error) ? error : { message: typeof error === 'string' ? error : '' }
}

/** `status` is that of the answer, `null` in a stream, where the error itself has to say. */
export function parseError(error: GeminiError, status: number | null): Failure {
  const named = statusOf(error)
  const code = mapErrorCodeToStatus(String(error.code))
  const message =
    typeof error.message === 'string' && error.message !== ''
      ? error.message
      : named === ''
        ? createUnexplainedFailure(status).message
        : `The upstream failed (${named}).`
  return shaped(error, status ?? code ?? HTTP[named] ?? 502, message)
}

/** https://cloud.google.com/apis/design/errors */
const HTTP: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

function shaped(error: GeminiError, upstreamStatus: number, message: string): Failure {
  const named = statusOf(error)
  const isBadKey = isInvalidKey(error)
  const status = isBadKey ? 401 : upstreamStatus
  const base = { status, message, param: null }
  if (status === 401) {
    return { ...base, type: 'invalid_request_error', code: 'invalid_api_key' }
  }
  if (status === 429) {
    const type = JSON.stringify(error.details ?? '').includes('oken') ? 'tokens' : 'requests'
    return { ...base, message: withDelay(error, message), type, code: 'rate_limit_exceeded' }
  }
  if (status >= 500) {
    const code = status === 503 ? 'server_is_overloaded' : 'server_error'
    return { ...base, message: withDelay(error, message), type: 'server_error', code }
  }
  return { ...base, type: 'invalid_request_error', code: codeOf(status, named, message) }
}

function codeOf(status: number, named: string, message: string): string | null {
  if (status === 404) return 'model_not_found'
  if (/input token count\b.{0,80}\bexceeds/i.test(message)) return 'context_length_exceeded'
  if (SIGNATURE.test(message)) return 'invalid_encrypted_content'
  return named === '' || named === 'INVALID_ARGUMENT' ? null : named.toLowerCase()
}

function statusOf(error: GeminiError): string {
  return typeof error.status === 'string' ? error.status : ''
}

/** A wrong key is a 400 at Google. */
function isInvalidKey(error: GeminiError): boolean {
  return (
    detailsOf(error).some((detail) => detail['reason'] === 'API_KEY_INVALID') ||
    (typeof error.message === 'string' && /^API key (?:not valid|expired)/.test(error.message))
  )
}

/** In the words that OpenAI's clients look for to know how long to wait. */
function withDelay(error: GeminiError, message: string): string {
  const delay = detailsOf(error).find(isRetryInfo)?.['retryDelay']
  return typeof delay === 'string' ? `${message} Please try again in ${delay}.` : message
}

function isRetryInfo({ '@type': type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('.RetryInfo')
}

function detailsOf(error: GeminiError): readonly JsonObject[] {
  return Array.isArray(error.details) ? (error.details as readonly Json[]).filter(isObject) : []
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function plainWords(text: string): string {
  return isHtmlPage(text) ? '' : text.slice(0, 300).trim()
}
