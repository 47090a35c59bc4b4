/**
 * Runs a database query that an answer can do without. If the database fails or takes longer than 1.5 s,
 * the request continues without the result.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/wait-with-timeout.ts'

/** Resolves to null, with the event in the log, if the query failed or timed out. */
export async function queryWithTimeout<Value>(
  query: () => Promise<Value>,
  failureEvent: string,
  log: Log,
): Promise<Value | null> {
  try {
    const result = await waitWithTimeout(query(), MAX_WAIT_MS)
    if (result !== TIMED_OUT) return result
    log('warn', failureEvent, { why: 'It took too long.' })
  } catch (error) {
    log('warn', failureEvent, { why: errorMessage(error) })
  }
  return null
}

/** The longest time that one query may delay the first text of an answer. */
const MAX_WAIT_MS = 1500
