/**
 * Creates the failure for an error response that explains nothing: an empty body, an empty object,
 * or the HTML page of a proxy.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { ErrorCode } from '../../core/errors/gateway-error.ts'

/** Creates the failure. `status` is `null` for an error in an answer that began with status 200. */
export function createUnexplainedFailure(status: number | null, body = ''): Failure {
  if (status === null) return WITHIN_ANSWER
  return {
    status,
    type: getErrorTypeForStatus(status),
    code: getErrorCodeForStatus(status) ?? getOutageCode(status),
    message: `The upstream answered with status ${status} and ${isHtmlPage(body) ? describeHtmlPage(body) : 'no explanation'}.`,
    param: null,
  }
}

/**
 * Returns the error code for an upstream that is not available, e.g. 504 → `upstream_timeout`;
 * `null` for a status below 500.
 */
function getOutageCode(status: number): ErrorCode | null {
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

/** True for an HTML page, which proxies send. Only its title can explain the error. */
export function isHtmlPage(text: string): boolean {
  return /^\s*</.test(text)
}

function describeHtmlPage(body: string): string {
  const title = /<title>([^<]*)<\/title>/i.exec(body)?.[1]?.trim() ?? ''
  return title === ''
    ? 'a web page'
    : `a web page: ${title.slice(0, MAX_TITLE_CHARS).toWellFormed()}`
}

const MAX_TITLE_CHARS = 200

const TYPE_BY_STATUS: Readonly<Partial<Record<number, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

export function getErrorTypeForStatus(status: number): string {
  return TYPE_BY_STATUS[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
}

const CODE_BY_STATUS: Readonly<Partial<Record<number, string>>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
}

/** Returns the error code that OpenAI's clients check for, e.g. 429 → `rate_limit_exceeded`. */
export function getErrorCodeForStatus(status: number): string | null {
  return CODE_BY_STATUS[status] ?? null
}
