/** Asks the memory for what a request cannot do without; a database that is away is told as such. */
import { GatewayError } from '../errors.ts'

export async function askMemory<Value>(query: () => Promise<Value>): Promise<Value> {
  try {
    return await query()
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new GatewayError(
      'store_unavailable',
      'The conversation could not be read because the database does not answer. Try again in a moment.',
      { cause, headers: { 'retry-after': '1' } },
    )
  }
}
