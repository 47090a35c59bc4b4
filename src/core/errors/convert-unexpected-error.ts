/**
 * Converts any thrown error into the error that a client receives. An unexpected error is logged with
 * its stack, and the client learns only that the gateway failed.
 */
import type { Log } from '../ports/log-interface.ts'
import { GatewayError } from './gateway-error.ts'

export function convertUnexpectedError(error: unknown, log: Log): GatewayError {
  if (error instanceof GatewayError) return error
  log('error', 'unexpected', {
    why: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new GatewayError('internal_error', 'The gateway made a mistake. Its log says more.')
}
