/** Asks the memory for what a request cannot do without; a database that is away is told as such. */
import { GatewayError } from '../core/errors/gateway-error.ts'

/** `fault` tells the client what did not happen. */
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
