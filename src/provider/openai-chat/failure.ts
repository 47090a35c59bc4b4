/**
 * What an upstream's error means, in OpenAI's shape with its four keys. Services wrap errors in many
 * ways: OpenRouter counts codes and hides the cause in `metadata.raw`, Groq adds what the model
 * wrote, older servers send the error bare or as `detail`, and proxies send a web page.
 */
import type { Failure } from '../../conversation/event.ts'
import { isObject, textIn, type Json, type JsonObject } from '../../conversation/json.ts'
import { refusesReasoning as anthropicRefuses } from '../anthropic/failure.ts'
import { refusesReasoning as geminiRefuses } from '../gemini/failure.ts'
import { refusesReasoning as openaiRefuses } from '../openai-responses/failure.ts'

/** An answer with an error status. */
export function failureOfBody(status: number, body: JsonObject | string): Failure {
  if (typeof body === 'string') return failureOfText(status, body)
  return failureOfError(status, body['error'] ?? body)
}

/** Behind this wire is any of the others, and its refusal comes through in its own words. */
export function refusesReasoning(failure: Failure): boolean {
  return [anthropicRefuses, openaiRefuses, geminiRefuses].some((refuses) => refuses(failure))
}

/** An error in the middle of a stream, whose HTTP status was 200. */
export function failureOfChunk(error: Json): Failure {
  return failureOfError(statusIn(error) ?? 502, error)
}

function failureOfError(status: number, error: Json): Failure {
  if (typeof error === 'string') return failureOfText(status, error)
  if (!isObject(error)) return failure(status, {}, '')
  const { message, detail, msg } = error
  const said = textIn(message) || textIn(msg) || detailIn(detail)
  return failure(status, error, said + causeIn(error) + generationIn(error))
}

function failure(status: number, error: JsonObject, message: string): Failure {
  const { type, code, param } = error
  return {
    status,
    type: typeof type === 'string' && type !== '' ? type : typeOf(status),
    code: codeOf(code, status),
    message: message === '' ? `The upstream answered with status ${status}.` : message,
    param: typeof param === 'string' ? param : null,
  }
}

const MAX_TEXT = 400

function failureOfText(status: number, text: string): Failure {
  const trimmed = text.trim()
  if (!trimmed.startsWith('<')) return failure(status, {}, shortened(trimmed))
  const title = between(trimmed, '<title>', '</title>').trim()
  const named = title === '' ? '' : `: ${shortened(title)}`
  return failure(status, {}, `The upstream answered with status ${status} and a web page${named}.`)
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`
}

function between(text: string, open: string, close: string): string {
  const start = text.indexOf(open)
  const end = text.indexOf(close, start)
  return start < 0 || end < 0 ? '' : text.slice(start + open.length, end)
}

/** FastAPI's: a sentence, or a list of what is wrong where. */
function detailIn(detail: Json | undefined): string {
  if (!Array.isArray(detail)) return textIn(detail)
  const lines = detail.filter(isObject).map((entry) => {
    const place = Array.isArray(entry['loc']) ? entry['loc'].join('.') : ''
    return place === '' ? textIn(entry['msg']) : `${place}: ${textIn(entry['msg'])}`
  })
  return shortened(lines.filter((line) => line !== '').join('; '))
}

/** OpenRouter's "Provider returned error" says nothing without what the provider said. */
function causeIn({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return ''
  const raw = textIn(metadata['raw'])
  if (raw === '') return ''
  const provider = textIn(metadata['provider_name'])
  return ` (${provider === '' ? '' : `${provider}: `}${shortened(innerMessage(raw))})`
}

/** The raw error is often JSON once more. */
function innerMessage(raw: string): string {
  if (!raw.startsWith('{')) return raw
  try {
    const parsed: unknown = JSON.parse(raw)
    const inner = isObject(parsed) ? (parsed['error'] ?? parsed) : null
    return (isObject(inner) && textIn(inner['message'])) || raw
  } catch {
    return raw
  }
}

/** What Groq's model wrote instead of a call; without it nobody can tell what went wrong. */
function generationIn(error: JsonObject): string {
  const text = textIn(error['failed_generation'])
  return text === '' ? '' : ` The model wrote: ${shortened(text)}`
}

function statusIn(error: Json): number | null {
  if (!isObject(error)) return null
  const said = [error['status_code'], error['code'], error['status']]
  return (
    (said.find((value) => typeof value === 'number' && value >= 400 && value < 600) as
      | number
      | null
      | undefined) ?? null
  )
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
}

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
}

function codeOf(code: Json | undefined, status: number): string | null {
  if (typeof code === 'string' && code !== '') return code
  // A number that only repeats the HTTP status is none of OpenAI's codes.
  if (typeof code === 'number' && code !== status) return String(code)
  return CODES[status] ?? null
}
