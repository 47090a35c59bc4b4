/**
 * A failure of which an upstream says nothing: an empty body, an empty object, or the web page of
 * whatever stands in front of it. All wires tell it in the same words.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { ErrorCode } from '../../core/errors/gateway-error.ts'

/** With `null` for the status of an error inside of an answer that came with 200. */
export function createUnexplainedFailure(status: number | null, body = ''): Failure {
  if (status === null) return WITHIN_ANSWER
  return {
    status,
    type: errorTypeForStatus(status),
    code: errorCodeForStatus(status) ?? brokenBy(status),
    message: `The upstream answered with status ${status} and ${isHtmlPage(body) ? pageIn(body) : 'no explanation'}.`,
    param: null,
  }
}

/** As of an upstream that sends no answer at all. */
function brokenBy(status: number): ErrorCode | null {
  if (status === 504) return 'upstream_timeout'
  return status >= 500 ? 'upstream_broken' : null
}

const WITHIN_ANSWER: Failure = {
  status: 502,
  type: 'server_error',
  code: null,
  message: 'The upstream reported an error and no explanation.',
  param: null,
}

/** A proxy's page says nothing that a person could use, but its title may. */
export function isHtmlPage(text: string): boolean {
  return /^\s*</.test(text)
}

function pageIn(body: string): string {
  const title = /<title>([^<]*)<\/title>/i.exec(body)?.[1]?.trim() ?? ''
  return title === '' ? 'a web page' : `a web page: ${title.slice(0, MAX_TITLE).toWellFormed()}`
}

const MAX_TITLE = 200

const TYPES: Readonly<Partial<Record<number, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

export function errorTypeForStatus(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
}

const CODES: Readonly<Partial<Record<number, string>>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
}

/** What OpenAI's clients look for. */
export function errorCodeForStatus(status: number): string | null {
  return CODES[status] ?? null
}
