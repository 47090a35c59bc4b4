/**
 * Parses the errors of Responses services. OpenAI sends `{ error: { message, type, param, code }
 * }`; other servers send numeric codes, text, `detail` or an HTML page.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import { isUnknownModelError, UNKNOWN_MODEL_CODE } from '../errors/unknown-model.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  if (!isObject(body)) {
    return isHtmlPage(body)
      ? createUnexplainedFailure(status, body)
      : parseError({ message: body.trim() }, status)
  }
  const { error, message, detail } = body
  if (isObject(error)) return parseError(error, status)
  const text = [error, message, detail].find((value) => typeof value === 'string')
  const detailJson = detail === undefined ? '' : JSON.stringify(detail)
  return parseError({ ...body, message: text ?? detailJson }, status)
}

/**
 * True if the upstream rejects encrypted reasoning, which only the organization that received it
 * can use. Checks the message too, because some servers send no code.
 */
export function isReasoningRejection({ status, code, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  if (code === 'invalid_encrypted_content') return true
  const text = message.toLowerCase()
  if (text.includes('not issued to this caller')) return true
  return /encrypted[ _]content/.test(text) && DECRYPTION_FAILED.test(text)
}

const DECRYPTION_FAILED = /could not be|did not match|does not match|invalid|failed to/

/**
 * Parses an error object. In a stream, `httpStatus` is `null`, and the code of the error determines
 * the status. An error without an explanation counts as a broken upstream.
 */
export function parseError(error: JsonObject, httpStatus: number | null): Failure {
  const [type, ownCode] = [readString(error['type']), readString(error['code'])]
  const message = readString(error['message'])
  const fallback = createUnexplainedFailure(httpStatus)
  if (type === null && ownCode === null && message === null) return fallback
  const code = ownCode ?? (httpStatus === 429 ? fallback.code : null)
  const status = httpStatus ?? mapErrorCodeToStatus(code ?? type ?? '') ?? fallback.status
  return {
    status,
    type: type ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    code: isUnknownModelError(status, message ?? '') ? UNKNOWN_MODEL_CODE : code,
    message: message ?? fallback.message,
    param: readString(error['param']),
  }
}

/** Returns a string. Converts a numeric code, because SDKs expect text: 1301 → `'1301'`. */
function readString(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
