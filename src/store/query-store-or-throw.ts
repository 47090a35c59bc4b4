/**
 * Runs a query without whose result a request fails. If the database fails, the client gets the
 * error `store_unavailable`.
 */
import { GatewayError } from '../core/errors/gateway-error.ts'

/** Returns the result of `query`. `fault` is the error message that the client gets if it fails. */
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
