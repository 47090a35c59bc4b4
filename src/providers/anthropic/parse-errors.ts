/**
 * Converts Anthropic's errors to OpenAI's format. An error is an error response, or an event in a
 * stream that began with status 200.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../core/json/json.ts'
import { isUnknownModelError, UNKNOWN_MODEL_CODE } from '../errors/unknown-model.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  const error = typeof body === 'string' ? undefined : body['error']
  if (isObject(error)) return parseError(error, status)
  const text =
    typeof body === 'string'
      ? readPlainText(body)
      : textOrEmpty(error) || textOrEmpty(body['message'])
  if (text === '') return createUnexplainedFailure(status, typeof body === 'string' ? body : '')
  return buildFailure(status, null, text)
}

/**
 * True if the upstream rejects the reasoning in a request, e.g. because a signature is invalid or
 * thinking was edited or left out. Recognizes the messages of the API, of Bedrock and of similar
 * services.
 */
export function isReasoningRejection({ status, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  const text = message.toLowerCase()
  if (!text.includes('thinking')) return false
  return REJECTION_TERMS.some((term) => text.includes(term))
}

const REJECTION_TERMS = [
  'signature',
  'cannot be modified',
  'bound to a different',
  'expected `thinking`',
  'expected thinking',
]

/**
 * Parses an error object. In a stream, `status` is `null`, and the type of the error determines the
 * status, e.g. `overloaded_error` → 529.
 */
export function parseError(error: Json | undefined, status: number | null): Failure {
  const fields = isObject(error) ? error : {}
  const type = textOrEmpty(fields['type'])
  return buildFailure(
    status ?? STATUS_BY_TYPE.get(type) ?? 502,
    type || null,
    textOrEmpty(fields['message']) || createUnexplainedFailure(status).message,
  )
}

const STATUS_BY_TYPE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['billing_error', 402],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

function buildFailure(status: number, type: string | null, message: string): Failure {
  const code = isUnknownModelError(status, message)
    ? UNKNOWN_MODEL_CODE
    : getErrorCode(type, message)
  return { status, type: getErrorType(status), code, message, param: null }
}

function getErrorType(status: number): string {
  if (status >= 500) return 'server_error'
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error'
}

/**
 * Returns the error code that OpenAI's clients check for, e.g. `context_length_exceeded`;
 * Anthropic's error type if OpenAI has no such code.
 */
function getErrorCode(type: string | null, message: string): string | null {
  if (message.startsWith('prompt is too long') || message.includes('exceed context limit')) {
    return 'context_length_exceeded'
  }
  if (type === 'not_found_error' && message.startsWith('model:')) return UNKNOWN_MODEL_CODE
  return type === 'rate_limit_error' ? 'rate_limit_exceeded' : type
}

const MAX_MESSAGE_CHARS = 500

function readPlainText(text: string): string {
  return isHtmlPage(text) ? '' : text.trim().slice(0, MAX_MESSAGE_CHARS)
}
