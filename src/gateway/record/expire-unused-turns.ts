/**
 * Deletes turns that were not used for `RETENTION_DAYS`, and those of temporary chats after two days. A
 * turn with descendants stays as long as they do. Each query removes up to 500 turns and is followed
 * by a pause, so that requests need not wait for the database.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { DAY_MS } from '../history/touch-loaded-turns.ts'
import type { Expiry, ExpiryCursor } from '../../store/recall/recall-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ExpiryDependencies = Ports<'recall' | 'settings' | 'nowMs' | 'log'>

const BATCH_TURNS = 500
/** Max batches of one sweep. The remaining turns wait for the next hour. */
const MAX_BATCHES = 200
const PAUSE_MS = 100

export interface ExpiryLimits {
  readonly batches?: number
  readonly pauseMs?: number
  readonly signal?: AbortSignal
}

/** Resolves to the number of deleted turns. A database error ends the sweep with a warning in the log. */
export async function expireUnusedTurns(
  { recall, settings, nowMs, log }: ExpiryDependencies,
  { batches = MAX_BATCHES, pauseMs = PAUSE_MS, signal }: ExpiryLimits = {},
): Promise<number> {
  const now = nowMs()
  let remainingBatches = batches
  let removed = 0
  /**
   * Visits turns from the latest to the oldest, and starts again after a deletion: a deleted turn may have
   * been the last descendant of another one.
   */
  const sweep = async (of: Expiry['of'], days: number): Promise<void> => {
    let after: ExpiryCursor | null = null
    let removedNow = 0
    do {
      if (remainingBatches < batches) await pause(pauseMs)
      if (remainingBatches === 0 || signal?.aborted === true) return
      remainingBatches -= 1
      const unusedSinceMs = now - days * DAY_MS
      const expired = await recall.expireTurns({
        of,
        unusedSinceMs,
        nowMs: now,
        after,
        limit: BATCH_TURNS,
      })
      removed += expired.removed
      removedNow += expired.removed
      after = expired.next
    } while (after !== null)
    if (removedNow > 0) await sweep(of, days)
  }
  try {
    // Two days, because a turn in use is touched only once a day.
    await sweep('temporary', 2)
    if (settings.RETENTION_DAYS !== null) await sweep('all', settings.RETENTION_DAYS)
  } catch (error) {
    // The database of a stopping process may be closed already.
    if (signal?.aborted !== true) log('warn', 'turns-not-expired', { why: errorMessage(error) })
  }
  if (removed > 0) log('info', 'turns-expired', { turns: removed })
  return removed
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds)
    // The pause does not keep a process alive that is otherwise done; a timer of Workers is a number.
    if (typeof timer === 'object') (timer as NodeJS.Timeout).unref()
  })
}

const FIRST_DELAY_MS = 5 * 60 * 1000
const INTERVAL_MS = 60 * 60 * 1000

/** Returns a function that stops the timer; a batch in progress is completed. */
export function expireTurnsHourly(ports: ExpiryDependencies): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  let timer: ReturnType<typeof setTimeout>
  const wait = (milliseconds: number): void => {
    // A random factor from 0.8 to 1.2 separates replicas that were started together.
    timer = setTimeout(() => void run(), milliseconds * (0.8 + 0.4 * Math.random())).unref()
  }
  const run = async (): Promise<void> => {
    await expireUnusedTurns(ports, { signal })
    if (!signal.aborted) wait(INTERVAL_MS)
  }
  wait(FIRST_DELAY_MS)
  return () => {
    stopping.abort()
    clearTimeout(timer)
  }
}
