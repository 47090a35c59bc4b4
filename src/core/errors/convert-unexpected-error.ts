/**
 * What somebody is told of an error. One that was thrown on purpose says so itself; any other is a
 * mistake of ours: whoever asked hears no more than that, and the log all of it.
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
