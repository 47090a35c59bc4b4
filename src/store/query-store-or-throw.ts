/**
 * Runs a query that a request cannot do without. If the database fails, the client gets the error
 * `store_unavailable`.
 */
import { GatewayError } from '../core/errors/gateway-error.ts'

/** `fault` is the message for the client. */
export async function queryStoreOrThrow<Value>(
  query: () => Promise<Value>,
  fault = 'The conversation could not be read because the database does not answer. Try again in a moment.',
): Promise<Value> {
  try {
    return await query()
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    const headers = { 'retry-after': '1' }
    throw new GatewayError('store_unavailable', fault, { cause, headers })
  }
}
