/** A failure of the database, e.g. because the database does not answer or its disk is full. */
import { errorMessage } from './gateway-error.ts'

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'

  /** `cause`: the error of the database's driver, whose message this error has. */
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}
