/** Reports a failed database to the client of a request, as the error `store_unavailable`. */
import { createDatabaseFailure } from '../core/errors/database-error.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'

/**
 * Returns the result of `query`. If the database fails, throws the error `store_unavailable` with
 * `message`, which the client receives.
 */
export async function queryStoreOrThrow<Value>(
  query: () => Promise<Value>,
  message = 'The conversation could not be read because the database does not answer. Try again in a moment.',
): Promise<Value> {
  try {
    return await query()
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw createDatabaseFailure(message, cause)
  }
}
