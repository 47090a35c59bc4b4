/**
 * Parses an upstream's error into `type`, `code`, `message` and `param`. Services wrap errors in many
 * ways: OpenRouter uses numeric codes and puts the cause in `metadata.raw`, Groq adds the text that the
 * model wrote, older servers send a bare error or `detail`, and proxies send an HTML page.
 */
import type { Failure } from '../../core/stream-event.ts'
import {
  isObject,
  textOrEmpty,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../core/json/json.ts'
import { refusesReasoning as anthropicRefuses } from '../anthropic/parse-errors.ts'
import { refusesReasoning as geminiRefuses } from '../gemini/parse-errors.ts'
import { refusesReasoning as openaiRefuses } from '../openai-responses/parse-errors.ts'
import { mapErrorCodeToStatus } from '../errors/map-error-code-to-status.ts'
import {
  errorCodeForStatus,
  isHtmlPage,
  errorTypeForStatus,
  createUnexplainedFailure,
} from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  if (typeof body === 'string') return parseErrorText(status, body)
  return parseError(status, body['error'] ?? body)
}

/**
 * True if the upstream rejects the reasoning in a request. Also recognizes the messages of other
 * providers, because chat services often pass on the error of another provider.
 */
export function refusesReasoning(failure: Failure): boolean {
  return [anthropicRefuses, openaiRefuses, geminiRefuses].some((refuses) => refuses(failure))
}

/** Parses an error in the middle of a stream, whose HTTP status was 200. */
export function parseStreamError(error: Json): Failure {
  return parseError(null, error)
}

function parseError(status: number | null, error: Json): Failure {
  if (typeof error === 'string') return parseErrorText(status, error)
  if (!isObject(error)) return createUnexplainedFailure(status)
  const { message, detail, msg } = error
  const text = textOrEmpty(message) || textOrEmpty(msg) || readDetail(detail)
  const explanation = text + readProviderCause(error) + readFailedGeneration(error)
  return createFailure(status, error, explanation)
}

/** Creates the failure. Without an HTTP status, derives one from the fields of the error. */
function createFailure(httpStatus: number | null, error: JsonObject, message: string): Failure {
  const fallback = createUnexplainedFailure(httpStatus)
  const status = httpStatus ?? readStatus(error) ?? fallback.status
  const code = readCode(error, status)
  const type = textOrEmpty(error['type'])
  if (message === '' && code === null && type === '') return fallback
  return {
    status,
    type: type === '' ? errorTypeForStatus(status) : type,
    code: code ?? errorCodeForStatus(status),
    message: message === '' ? fallback.message : message,
    param: typeof error['param'] === 'string' ? error['param'] : null,
  }
}

const MAX_TEXT_CHARS = 400

function parseErrorText(status: number | null, text: string): Failure {
  const trimmed = text.trim()
  if (trimmed === '' || isHtmlPage(trimmed)) return createUnexplainedFailure(status, trimmed)
  return createFailure(status, {}, truncate(trimmed))
}

function truncate(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`
}

/**
 * Reads the field `detail` of FastAPI: a sentence, or a list such as
 * `[{ loc: ['body', 'n'], msg: 'too big' }]`.
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
 * Returns the provider's message, which follows OpenRouter's "Provider returned error", e.g.
 * ` (Groq: too long)`.
 */
function readProviderCause({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return ''
  const raw = textOrEmpty(metadata['raw'])
  if (raw === '') return ''
  const provider = textOrEmpty(metadata['provider_name'])
  return ` (${provider === '' ? '' : `${provider}: `}${truncate(readInnerMessage(raw))})`
}

/** Reads the message of a raw error that is often JSON itself: `{"error":{"message":"…"}}`. */
function readInnerMessage(raw: string): string {
  const parsed = raw.startsWith('{') ? tryParseJsonObject(raw) : null
  const inner = parsed?.['error'] ?? parsed
  return (isObject(inner) && textOrEmpty(inner['message'])) || raw
}

/**
 * Reads the text that Groq's model wrote instead of a valid tool call. The error explains nothing
 * else.
 */
function readFailedGeneration(error: JsonObject): string {
  const text = textOrEmpty(error['failed_generation'])
  return text === '' ? '' : ` The model wrote: ${truncate(text)}`
}

/**
 * Reads a numeric status (e.g. 429), or derives the status from a code such as
 * `rate_limit_exceeded`.
 */
function readStatus({ status_code, code, status, type }: JsonObject): number | null {
  const numeric = [status_code, code, status].find(isErrorStatus)
  return numeric ?? mapErrorCodeToStatus(textOrEmpty(code) || textOrEmpty(type))
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600
}

function readCode({ code }: JsonObject, status: number): string | null {
  if (typeof code === 'string' && code !== '') return code
  // Drops a numeric code that only repeats the HTTP status.
  return typeof code === 'number' && code !== status ? String(code) : null
}
