/** A failure of the database, e.g. because the database does not answer or its disk is full. */
import { createStoreUnavailableError, errorMessage, GatewayError } from './gateway-error.ts'

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'

  /** True if the database rejects the statement or its values, so that another try would fail, too. */
  readonly isPermanent: boolean

  /** `cause`: the error of the database's driver, whose message this error has. */
  constructor(cause: unknown, isPermanent = false) {
    super(errorMessage(cause), { cause })
    this.isPermanent = isPermanent
  }
}

export function isPermanentFailure(error: unknown): boolean {
  return error instanceof DatabaseError && error.isPermanent
}

/**
 * Creates the error for a request that fails because of the database. `retryMessage` is for a failure that another try
 * may overcome.
 */
export function createDatabaseFailure(retryMessage: string, cause: unknown): GatewayError {
  return isPermanentFailure(cause)
    ? new GatewayError('internal_error', REJECTED_MESSAGE, { cause })
    : createStoreUnavailableError(retryMessage, cause)
}

export const REJECTED_MESSAGE =
  'The database of the gateway rejects the data of this request, so sending it again does not help. The log of the gateway says why.'
