/**
 * Wraps an engine so that queries fail at once while its database hangs. Otherwise, each query would wait for a
 * time-out of its own. At intervals, one query is sent nevertheless; when the database answers any query,
 * all are sent again.
 */
import type { Engine, HangBehavior } from './engine-interface.ts'

export interface FailFastOptions {
  /** The time without any answer after which the database counts as hanging. */
  readonly silenceMs: number
  /** The interval at which one query is sent to a database that hangs. */
  readonly retryMs: number
}

/** A connection to a database that hangs times out after 5 s, so the first time-out counts as silence. */
const DEFAULTS: FailFastOptions = { silenceMs: 4_500, retryMs: 2_000 }

export function failFastWhileSilent(
  engine: Engine,
  { silenceMs, retryMs }: FailFastOptions = DEFAULTS,
): Engine {
  /** The time at which the first unanswered query was sent; null after an answer. */
  let silentSinceMs: number | null = null
  let retriedAtMs = Number.NEGATIVE_INFINITY

  const isSilent = (): boolean =>
    silentSinceMs !== null && performance.now() - silentSinceMs >= silenceMs

  const send = async <Rows>(
    run: () => Promise<Rows>,
    whileHanging: HangBehavior,
  ): Promise<Rows> => {
    // After a pause of this process, answers that have arrived are read only before the next `setImmediate`.
    if (isSilent()) await new Promise((resolve) => setImmediate(resolve))
    const sentAtMs = performance.now()
    if (isSilent()) {
      if (whileHanging === 'fails-fast' && sentAtMs - retriedAtMs < retryMs)
        throw new Error('The database does not answer.')
      retriedAtMs = sentAtMs
    }
    silentSinceMs ??= sentAtMs
    try {
      const rows = await run()
      silentSinceMs = null
      return rows
    } catch (error) {
      // A fast failure is an answer, too, e.g. of a rejected statement or a refused connection.
      if (performance.now() - sentAtMs < silenceMs) silentSinceMs = null
      throw error
    }
  }
  return {
    ...engine,
    read: (queries) => send(() => engine.read(queries), 'fails-fast'),
    write: (queries, survives, whileHanging = 'fails-fast') =>
      send(() => engine.write(queries, survives), whileHanging),
  }
}
