/** Errors of this provider in OpenAI's shape, whether they come with a status or after a 200. */
import type { Failure } from '../../core/stream-event.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../core/json/json.ts'
import { isHtmlPage, createUnexplainedFailure } from '../errors/create-unexplained-failure.ts'

export function parseErrorResponse(status: number, body: JsonObject | string): Failure {
  const error = typeof body === 'string' ? undefined : body['error']
  if (isObject(error)) return parseError(error, status)
  const words =
    typeof body === 'string' ? plain(body) : textOrEmpty(error) || textOrEmpty(body['message'])
  if (words === '') return createUnexplainedFailure(status, typeof body === 'string' ? body : '')
  return shaped(status, null, words)
}

/**
 * In the words of the API, of Bedrock and of services with the same wire: a signature that is not
 * valid, thinking that was changed, left out, or made for another conversation.
 */
export function refusesReasoning({ status, message }: Failure): boolean {
  if (status !== 400 && status !== 422) return false
  const words = message.toLowerCase()
  if (!words.includes('thinking')) return false
  return SAID_OF_THINKING.some((said) => words.includes(said))
}

const SAID_OF_THINKING = [
  'signature',
  'cannot be modified',
  'bound to a different',
  'expected `thinking`',
  'expected thinking',
]

/** An error within a stream has only its type. */
export function parseError(error: Json | undefined, status?: number): Failure {
  const { type, message } = isObject(error) ? error : {}
  const kind = textOrEmpty(type)
  const known = status ?? STATUS.get(kind) ?? 502
  return shaped(
    known,
    kind || null,
    textOrEmpty(message) || createUnexplainedFailure(status ?? null).message,
  )
}

const STATUS: ReadonlyMap<string, number> = new Map([
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

function shaped(status: number, kind: string | null, message: string): Failure {
  return { status, type: typeOf(status), code: codeOf(kind, message), message, param: null }
}

function typeOf(status: number): string {
  if (status >= 500) return 'server_error'
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error'
}

/** Where OpenAI's clients look for a certain code, they find it; else the provider's own word. */
function codeOf(kind: string | null, message: string): string | null {
  if (message.startsWith('prompt is too long') || message.includes('exceed context limit')) {
    return 'context_length_exceeded'
  }
  if (kind === 'not_found_error' && message.startsWith('model:')) return 'model_not_found'
  return kind === 'rate_limit_error' ? 'rate_limit_exceeded' : kind
}

const MOST_CHARACTERS = 500

function plain(text: string): string {
  return isHtmlPage(text) ? '' : text.trim().slice(0, MOST_CHARACTERS)
}
