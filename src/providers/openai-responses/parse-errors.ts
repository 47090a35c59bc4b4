/**
 * What an error of this wire means. OpenAI and its likes send `{error: {message, type, param, code}}`,
 * others numbers for codes, bare strings, `detail`, or a page of HTML.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  if (!isObject(body)) {
    return isHtmlPage(body)
      ? createUnexplainedFailure(status, body)
      : parseError({ message: body.trim() }, status)
  }
  const { error, message, detail } = body
  if (isObject(error)) return parseError(error, status)
  const words = [error, message, detail].find((words) => typeof words === 'string')
  const asJson = detail === undefined ? '' : JSON.stringify(detail)
  return parseError({ ...body, message: words ?? asJson }, status)
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
  return /encrypted[ _]content/.test(words) && DECRYPTION_FAILED.test(words)
}

const DECRYPTION_FAILED = /could not be|did not match|does not match|invalid|failed to/

/**
 * An error object, from a body or from a stream. Where there is no status, its code may tell it; an
 * answer that fails without saying how is one of an upstream that is broken.
 */
export function parseError(error: JsonObject, status: number | null): Failure {
  const [type, said] = [readString(error['type']), readString(error['code'])]
  const message = readString(error['message'])
  const silent = createUnexplainedFailure(status)
  if (type === null && said === null && message === null) return silent
  const code = said ?? (status === 429 ? silent.code : null)
  const known = status ?? mapErrorCodeToStatus(code ?? type ?? '') ?? silent.status
  return {
    status: known,
    type: type ?? (known >= 500 ? 'server_error' : 'invalid_request_error'),
    code,
    message: message ?? silent.message,
    param: readString(error['param']),
  }
}

/** Clients expect strings. */
function readString(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
