/**
 * Parses the errors of Chat Completions services. They differ: OpenRouter sends numeric codes and
 * the cause in `metadata.raw`, Groq the text that the model wrote, older servers a bare error or
 * `detail`, and proxies an HTML page.
 */
import type { Failure } from '../../core/stream-event.ts'
import {
  isObject,
  textOrEmpty,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../core/json/json.ts'
import { isReasoningRejection as anthropicRefuses } from '../anthropic/parse-errors.ts'
import { isReasoningRejection as geminiRefuses } from '../gemini/parse-errors.ts'
import { isReasoningRejection as openaiRefuses } from '../openai-responses/parse-errors.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import { isUnknownModelError, UNKNOWN_MODEL_CODE } from '../errors/unknown-model.ts'
import { isModerationError, MODERATION_CODE } from '../errors/moderation-error.ts'
import {
  getErrorCodeForStatus,
  isHtmlPage,
  getErrorTypeForStatus,
  createUnexplainedFailure,
} from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  return parseError(typeof body === 'string' ? body : (body['error'] ?? body), status)
}

/**
 * True if the upstream rejects the reasoning in a request. Also recognizes the errors of other
 * providers, because some services pass them on.
 */
export function isReasoningRejection(failure: Failure): boolean {
  return [anthropicRefuses, openaiRefuses, geminiRefuses].some((refuses) => refuses(failure))
}

/**
 * Parses an error: an object or text. In a stream, `status` is `null`, and the fields of the error
 * determine the status.
 */
export function parseError(error: Json, status: number | null): Failure {
  if (typeof error === 'string') return parseErrorText(status, error)
  if (!isObject(error)) return createUnexplainedFailure(status)
  const { message, detail, msg } = error
  const text = textOrEmpty(message) || textOrEmpty(msg) || readDetail(detail)
  const explanation = text + readProviderCause(error) + readFailedGeneration(error)
  return buildFailure(status, error, explanation)
}

/** Builds the failure. Without an HTTP status, the fields of the error determine the status. */
function buildFailure(httpStatus: number | null, error: JsonObject, message: string): Failure {
  const fallback = createUnexplainedFailure(httpStatus)
  const status = httpStatus ?? readStatus(error) ?? fallback.status
  const code = isUnknownModelError(status, message)
    ? UNKNOWN_MODEL_CODE
    : getErrorCode(error, status)
  const type = textOrEmpty(error['type'])
  if (message === '' && code === null && type === '') return fallback
  return {
    status,
    type: type === '' ? getErrorTypeForStatus(status) : type,
    code: code ?? getErrorCodeForStatus(status),
    message: message === '' ? fallback.message : message,
    param: typeof error['param'] === 'string' ? error['param'] : null,
  }
}

const MAX_TEXT_CHARS = 400

function parseErrorText(status: number | null, text: string): Failure {
  const trimmed = text.trim()
  if (trimmed === '' || isHtmlPage(trimmed)) return createUnexplainedFailure(status, trimmed)
  return buildFailure(status, {}, truncate(trimmed))
}

function truncate(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`
}

/**
 * Reads the field `detail` of FastAPI servers: a sentence, or a list such as `[{ loc: ['body',
 * 'n'], msg: 'too big' }]`, which becomes `body.n: too big`.
 */
function readDetail(detail: Json | undefined): string {
  if (!Array.isArray(detail)) return textOrEmpty(detail)
  const lines = detail.filter(isObject).map((entry) => {
    const path = Array.isArray(entry['loc']) ? entry['loc'].join('.') : ''
    return path === '' ? textOrEmpty(entry['msg']) : `${path}: ${textOrEmpty(entry['msg'])}`
  })
  return truncate(lines.filter((line) => line !== '').join('; '))
}

/**
 * Returns the cause that follows OpenRouter's message "Provider returned error", e.g. ` (Groq: too
 * long)`.
 */
function readProviderCause({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return ''
  const raw = textOrEmpty(metadata['raw'])
  if (raw === '') return ''
  const provider = textOrEmpty(metadata['provider_name'])
  return ` (${provider === '' ? '' : `${provider}: `}${truncate(readInnerMessage(raw))})`
}

/**
 * Returns the message of a raw error. The raw error is text, or JSON such as
 * `{"error":{"message":"…"}}`.
 */
function readInnerMessage(raw: string): string {
  const parsed = raw.startsWith('{') ? tryParseJsonObject(raw) : null
  const inner = parsed?.['error'] ?? parsed
  return (isObject(inner) && textOrEmpty(inner['message'])) || raw
}

/**
 * Returns the text that the model wrote instead of a valid tool call. Groq's error has no other
 * explanation.
 */
function readFailedGeneration(error: JsonObject): string {
  const text = textOrEmpty(error['failed_generation'])
  return text === '' ? '' : ` The model wrote: ${truncate(text)}`
}

/**
 * Returns the numeric status in the error (e.g. 429), or the one that belongs to its code, e.g.
 * `rate_limit_exceeded`.
 */
function readStatus({ status_code, code, status, type }: JsonObject): number | null {
  const numeric = [status_code, code, status].find(isErrorStatus)
  return numeric ?? mapErrorCodeToStatus(textOrEmpty(code) || textOrEmpty(type))
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600
}

function getErrorCode(error: JsonObject, status: number): string | null {
  const { code } = error
  if (isModerationError(error)) return MODERATION_CODE
  if (typeof code === 'string' && code !== '') return code
  // A numeric code is left out if it only repeats the HTTP status.
  return typeof code === 'number' && code !== status ? String(code) : null
}
