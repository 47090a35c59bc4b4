/**
 * Defines the gateway's error codes with their HTTP statuses, and the error class that request
 * handlers throw. Transforms do not throw; they return notes.
 */
import type { Failure } from '../stream-event.ts'
import type { JsonObject } from '../json/json.ts'
import { truncateFailureForStream } from '../text/truncate-failure-for-stream.ts'

const CODES = {
  invalid_json: 400,
  invalid_type: 400,
  invalid_value: 400,
  invalid_base64_image: 400,
  missing_required_parameter: 400,
  unknown_parameter: 400,
  unsupported_parameter: 400,
  unsupported_value: 400,
  context_length_exceeded: 400,
  conversation_locked: 400,
  mutually_exclusive_parameters: 400,
  previous_response_not_found: 400,
  websocket_connection_limit_reached: 400,
  websocket_stream_limit_reached: 400,
  model_not_found: 404,
  not_found: 404,
  invalid_api_key: 401,
  invalid_user_signature: 401,
  keys_required: 403,
  insufficient_permissions: 403,
  method_not_allowed: 405,
  request_timeout: 408,
  idempotent_answer_not_available: 409,
  request_too_large: 413,
  unsupported_content_encoding: 415,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
  storage_key_missing: 500,
  stored_data_untrusted: 500,
  upstream_unreachable: 502,
  upstream_broken: 502,
  upstream_access_denied: 502,
  upstream_timeout: 504,
  answer_timeout: 504,
  run_timeout: 504,
  store_unavailable: 503,
  gateway_stopped: 503,
  overloaded: 503,
} as const

export type ErrorCode = keyof typeof CODES

export class GatewayError extends Error {
  readonly failure: Failure
  readonly headers: Readonly<Record<string, string>>

  /** Creates the error from an error code, or from a failure that an upstream has reported. */
  constructor(
    error: ErrorCode | Failure,
    message = typeof error === 'string' ? error : error.message,
    more: {
      readonly param?: string | null
      readonly status?: number
      readonly cause?: unknown
      readonly headers?: Readonly<Record<string, string>>
    } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'GatewayError'
    this.failure = truncateFailureForStream(
      typeof error === 'string' ? createFailure(error, message, more) : error,
    )
    this.headers = more.headers ?? HEADERS_BY_CODE.get(this.failure.code) ?? {}
  }
}

/** The headers of errors by their code: `retry-after` makes clients try again. */
const HEADERS_BY_CODE: ReadonlyMap<string | null, Readonly<Record<string, string>>> = new Map<
  ErrorCode,
  Readonly<Record<string, string>>
>([['store_unavailable', { 'retry-after': '1' }]])

export function createFailure(
  code: ErrorCode,
  message: string,
  more: { readonly param?: string | null; readonly status?: number } = {},
): Failure {
  const status = more.status ?? CODES[code]
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  return { status, type, code, message, param: more.param ?? null }
}

/** Returns an error body as in OpenAI's API, whose clients expect all four keys. */
export function createErrorBody(failure: Failure): JsonObject {
  const { message, type, param, code } = failure
  return { error: { message, type, param, code } }
}

/** Creates an error with status 404 and `code: null`, as in OpenAI's API for an unknown response id. */
export function createNotFoundError(message: string, param: string | null = null): GatewayError {
  return new GatewayError({ ...createFailure('not_found', message, { param }), code: null })
}

/** Creates the error for a request that fails because of the database. */
export function createStoreUnavailableError(message: string, cause?: unknown): GatewayError {
  return new GatewayError('store_unavailable', message, { cause })
}

/** Returns the message of a thrown value, which may be no Error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
