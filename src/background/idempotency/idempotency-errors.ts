/**
 * The errors of requests with an `Idempotency-Key`. Errors that a retry with the same key would get again have the header
 * `x-should-retry: false`, because OpenAI's SDKs would otherwise repeat the request.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Failure } from '../../core/stream-event.ts'

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key'

const NO_RETRY = { 'x-should-retry': 'false' }
const PARAM = { param: IDEMPOTENCY_KEY_HEADER }

export function createKeyReusedError(): GatewayError {
  return new GatewayError(
    'idempotency_key_reused',
    `This ${IDEMPOTENCY_KEY_HEADER} was sent with another request before. Send a new key with each new request, and the same key only with the same body to the same endpoint.`,
    { ...PARAM, headers: NO_RETRY },
  )
}

/** Creates the error for an answer that has ended and cannot be rendered again. */
export function createAnswerNotAvailableError(): GatewayError {
  return new GatewayError(
    'idempotent_answer_not_available',
    `A request with this ${IDEMPOTENCY_KEY_HEADER} was sent before. Its answer is not available, because it was not stored completely or was deleted, or because it is unknown whether the model processed the request. The request is not sent again. For a new answer, send a new key.`,
    { ...PARAM, headers: NO_RETRY },
  )
}

/** Creates the error for a stream that waited for another request, which then failed before the model processed it. */
export function createFirstRequestRejectedError(): GatewayError {
  return new GatewayError(
    'upstream_unreachable',
    `This request waited for an earlier one with the same ${IDEMPOTENCY_KEY_HEADER}, which was rejected before a model processed it. Send the request again with the same key.`,
  )
}

export function createClientDisconnectedError(): GatewayError {
  const message = 'The client disconnected while it waited for the answer to another request.'
  return new GatewayError('upstream_unreachable', message, { status: 499 })
}

/** Creates the error for a stored answer that has failed. */
export function createStoredFailureError(failure: Failure): GatewayError {
  const explained = explainStoredFailure(failure)
  return new GatewayError(explained, explained.message, { headers: NO_RETRY })
}

export function explainStoredFailure(failure: Failure): Failure {
  const message = `${failure.message} (The first request with this ${IDEMPOTENCY_KEY_HEADER} ended with this error. For a new answer, send a new key.)`
  return { ...failure, message }
}
