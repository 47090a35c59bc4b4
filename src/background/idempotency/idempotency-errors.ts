/**
 * The errors of requests with an `Idempotency-Key`. Those that the same key always gets have the header
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
    `A request with this ${IDEMPOTENCY_KEY_HEADER} was sent before. Its answer is not stored completely, or it is unknown whether the model processed the request, so it is not sent again. To ask again, send a new key.`,
    { ...PARAM, headers: NO_RETRY },
  )
}

/** Creates the error for a stream that waited for another request, which then failed before the model processed it. */
export function createFirstRequestRejectedError(): GatewayError {
  return new GatewayError(
    'upstream_unreachable',
    `The request with this ${IDEMPOTENCY_KEY_HEADER} for which this one waited was rejected. Send it again, with the same key.`,
  )
}

export function createClientLeftError(): GatewayError {
  const message = 'The client went away while it waited for the answer to another request.'
  return new GatewayError('upstream_unreachable', message, { status: 499 })
}

/** Creates the error for a stored answer that has failed. */
export function createStoredFailureError(failure: Failure): GatewayError {
  const explained = explainStoredFailure(failure)
  return new GatewayError(explained, explained.message, { headers: NO_RETRY })
}

export function explainStoredFailure(failure: Failure): Failure {
  const message = `${failure.message} (This is how the first request with this ${IDEMPOTENCY_KEY_HEADER} ended. To ask again, send a new key.)`
  return { ...failure, message }
}
