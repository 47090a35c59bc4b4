/**
 * Converts any thrown error into the error that a client receives. A failure of the database is worth
 * another try. Any other unexpected error is logged with its stack, and the client learns only that the
 * gateway failed.
 */
import type { Log } from '../ports/log-interface.ts'
import { createDatabaseFailure, DatabaseError } from './database-error.ts'
import { GatewayError } from './gateway-error.ts'

export function convertUnexpectedError(error: unknown, log: Log): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof DatabaseError) {
    log('error', 'store-unavailable', { why: error.message })
    return createDatabaseFailure(
      'The database of the gateway does not answer. Try again in a moment.',
      error,
    )
  }
  log('error', 'unexpected', {
    why: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new GatewayError('internal_error', 'The gateway made a mistake. Its log says more.')
}
