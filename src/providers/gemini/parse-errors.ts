/**
 * Converts errors of Google's APIs to OpenAI's format. An error is the body of an error response,
 * or part of a stream that began with status 200. Both may be in an array.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, tryParseJson, type Json, type JsonObject } from '../../core/json/json.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'
import type { GeminiError } from './api-types.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  const error = findError(typeof body === 'string' ? tryParseJson(body) : body)
  if (error !== null) return parseError(error, status)
  const text = typeof body === 'string' ? readPlainText(body) : ''
  if (text === '') return createUnexplainedFailure(status, typeof body === 'string' ? body : '')
  return buildFailure({}, status, `The upstream answered with status ${status}: ${text}`)
}

/**
 * True if the upstream rejects a thought signature, because it is missing, corrupted, or made by
 * another model or service.
 */
export function isReasoningRejection({ status, code, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  return code === 'invalid_encrypted_content' || SIGNATURE_ERROR.test(message)
}

const SIGNATURE_ERROR = /thought.?signature/i

/** Returns the error in a body or a chunk; `null` if it has none. */
export function findError(value: unknown): GeminiError | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(first) || first['error'] === undefined || first['error'] === null) return null
  const error = first['error']
  return isObject(error) ? error : { message: typeof error === 'string' ? error : '' }
}

/**
 * Parses an error object. In a stream, `status` is `null`, and the fields of the error determine
 * the status.
 */
export function parseError(error: GeminiError, status: number | null): Failure {
  const statusName = readStatusName(error)
  const code = mapErrorCodeToStatus(String(error.code))
  const message =
    typeof error.message === 'string' && error.message !== ''
      ? error.message
      : statusName === ''
        ? createUnexplainedFailure(status).message
        : `The upstream failed (${statusName}).`
  return buildFailure(error, status ?? code ?? HTTP_STATUS[statusName] ?? 502, message)
}

/** HTTP statuses by Google's names of statuses: https://cloud.google.com/apis/design/errors */
const HTTP_STATUS: Readonly<Record<string, number>> = {
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

function buildFailure(error: GeminiError, upstreamStatus: number, message: string): Failure {
  const statusName = readStatusName(error)
  const isBadKey = isInvalidKey(error)
  const status = isBadKey ? 401 : upstreamStatus
  const base = { status, message, param: null }
  if (status === 401) {
    return { ...base, type: 'invalid_request_error', code: 'invalid_api_key' }
  }
  if (status === 429) {
    const type = JSON.stringify(error.details ?? '').includes('oken') ? 'tokens' : 'requests'
    return { ...base, message: appendDelay(error, message), type, code: 'rate_limit_exceeded' }
  }
  if (status >= 500) {
    const code = status === 503 ? 'server_is_overloaded' : 'server_error'
    return { ...base, message: appendDelay(error, message), type: 'server_error', code }
  }
  return { ...base, type: 'invalid_request_error', code: getErrorCode(status, statusName, message) }
}

function getErrorCode(status: number, statusName: string, message: string): string | null {
  if (status === 404) return 'model_not_found'
  if (/input token count\b.{0,80}\bexceeds/i.test(message)) return 'context_length_exceeded'
  if (SIGNATURE_ERROR.test(message)) return 'invalid_encrypted_content'
  return statusName === '' || statusName === 'INVALID_ARGUMENT' ? null : statusName.toLowerCase()
}

function readStatusName(error: GeminiError): string {
  return typeof error.status === 'string' ? error.status : ''
}

/** True if the API key is invalid, which Google reports with status 400 instead of 401. */
function isInvalidKey(error: GeminiError): boolean {
  return (
    readDetails(error).some((detail) => detail['reason'] === 'API_KEY_INVALID') ||
    (typeof error.message === 'string' && /^API key (?:not valid|expired)/.test(error.message))
  )
}

/**
 * Appends the time after which the client may try again, in the format that OpenAI's clients parse:
 * `Please try again in 18s.`
 */
function appendDelay(error: GeminiError, message: string): string {
  const delay = readDetails(error).find(isRetryInfo)?.['retryDelay']
  return typeof delay === 'string' ? `${message} Please try again in ${delay}.` : message
}

function isRetryInfo({ '@type': type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('.RetryInfo')
}

function readDetails(error: GeminiError): readonly JsonObject[] {
  return Array.isArray(error.details) ? (error.details as readonly Json[]).filter(isObject) : []
}

function readPlainText(text: string): string {
  return isHtmlPage(text) ? '' : text.slice(0, 300).trim()
}
