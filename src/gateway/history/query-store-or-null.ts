/**
 * Runs a database query whose result improves an answer but is not required. If the query fails or takes
 * longer than 1.5 s, the request continues without the result. It is rejected if the memory for the result is not
 * free, because a retry can succeed.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { RequestMemoryError } from '../request-memory.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'

/** Returns the result of the query. If the query fails or times out, returns null and logs `failureEvent`. Throws a RequestMemoryError of the query. */
export async function queryStoreOrNull<Value>(
  query: () => Promise<Value>,
  failureEvent: string,
  log: Log,
): Promise<Value | null> {
  try {
    const result = await waitWithTimeout(query(), MAX_WAIT_MS)
    if (result !== TIMED_OUT) return result
    log('warn', failureEvent, { why: 'It took too long.' })
  } catch (error) {
    if (error instanceof RequestMemoryError) throw error
    log('warn', failureEvent, { why: errorMessage(error) })
  }
  return null
}

/** The maximum time by which one query delays an answer. */
const MAX_WAIT_MS = 1500
