/**
 * What an upstream's error means, in OpenAI's shape with its four keys. Services wrap errors in many
 * ways: OpenRouter counts codes and hides the cause in `metadata.raw`, Groq adds what the model
 * wrote, older servers send the error bare or as `detail`, and proxies send a web page.
 */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../core/json/json.ts'
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

/** An answer with an error status. */
export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  if (typeof body === 'string') return createFailureFromText(status, body)
  return createFailureFromError(status, body['error'] ?? body)
}

/** Behind this wire is any of the others, and its refusal comes through in its own words. */
export function refusesReasoning(failure: Failure): boolean {
  return [anthropicRefuses, openaiRefuses, geminiRefuses].some((refuses) => refuses(failure))
}

/** An error in the middle of a stream, whose HTTP status was 200. */
export function parseStreamError(error: Json): Failure {
  return createFailureFromError(null, error)
}

/** Where there is no status, the error may tell one. */
function createFailureFromError(status: number | null, error: Json): Failure {
  if (typeof error === 'string') return createFailureFromText(status, error)
  if (!isObject(error)) return createUnexplainedFailure(status)
  const { message, detail, msg } = error
  const said = textOrEmpty(message) || textOrEmpty(msg) || readDetail(detail)
  return createFailure(status, error, said + readProviderCause(error) + readFailedGeneration(error))
}

function createFailure(status: number | null, error: JsonObject, message: string): Failure {
  const silent = createUnexplainedFailure(status)
  const known = status ?? readStatus(error) ?? silent.status
  const code = readCode(error, known)
  const type = textOrEmpty(error['type'])
  if (message === '' && code === null && type === '') return silent
  return {
    status: known,
    type: type === '' ? errorTypeForStatus(known) : type,
    code: code ?? errorCodeForStatus(known),
    message: message === '' ? silent.message : message,
    param: typeof error['param'] === 'string' ? error['param'] : null,
  }
}

const MAX_TEXT_CHARS = 400

function createFailureFromText(status: number | null, text: string): Failure {
  const trimmed = text.trim()
  if (trimmed === '' || isHtmlPage(trimmed)) return createUnexplainedFailure(status, trimmed)
  return createFailure(status, {}, truncate(trimmed))
}

function truncate(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`
}

/** FastAPI's: a sentence, or a list of what is wrong where. */
function readDetail(detail: Json | undefined): string {
  if (!Array.isArray(detail)) return textOrEmpty(detail)
  const lines = detail.filter(isObject).map((entry) => {
    const place = Array.isArray(entry['loc']) ? entry['loc'].join('.') : ''
    return place === '' ? textOrEmpty(entry['msg']) : `${place}: ${textOrEmpty(entry['msg'])}`
  })
  return truncate(lines.filter((line) => line !== '').join('; '))
}

/** OpenRouter's "Provider returned error" says nothing without what the provider said. */
function readProviderCause({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return ''
  const raw = textOrEmpty(metadata['raw'])
  if (raw === '') return ''
  const provider = textOrEmpty(metadata['provider_name'])
  return ` (${provider === '' ? '' : `${provider}: `}${truncate(readInnerMessage(raw))})`
}

/** The raw error is often JSON once more. */
function readInnerMessage(raw: string): string {
  if (!raw.startsWith('{')) return raw
  try {
    const parsed: unknown = JSON.parse(raw)
    const inner = isObject(parsed) ? (parsed['error'] ?? parsed) : null
    return (isObject(inner) && textOrEmpty(inner['message'])) || raw
  } catch {
    return raw
  }
}

/** What Groq's model wrote instead of a call; without it nobody can tell what went wrong. */
function readFailedGeneration(error: JsonObject): string {
  const text = textOrEmpty(error['failed_generation'])
  return text === '' ? '' : ` The model wrote: ${truncate(text)}`
}

/** As a number, or by a word that is known to mean one. */
function readStatus({ status_code, code, status, type }: JsonObject): number | null {
  const said = [status_code, code, status].find(isErrorStatus)
  return said ?? mapErrorCodeToStatus(textOrEmpty(code) || textOrEmpty(type))
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600
}

function readCode({ code }: JsonObject, status: number): string | null {
  if (typeof code === 'string' && code !== '') return code
  // A number that only repeats the HTTP status is none of OpenAI's codes.
  return typeof code === 'number' && code !== status ? String(code) : null
}
