import { GatewayError } from '../../core/errors/gateway-error.ts'

export function createRequestTooLargeError(limitBytes: number): GatewayError {
  const megabytes = Math.floor(limitBytes / 1024 / 1024)
  return new GatewayError(
    'request_too_large',
    `The request body is larger than ${megabytes} MB. Send less, or raise MAX_BODY_MB.`,
    // Closing the connection is cheaper than reading the rest of the body.
    { headers: { connection: 'close' } },
  )
}
