/**
 * Deletes turns that were not used for `RETENTION_DAYS`, and turns of temporary chats after two days. A turn stays as
 * long as a later turn, a conversation or an unfinished run needs it. Each batch considers at most 500 turns, and
 * there is a pause between batches, so that the database can serve requests. A search goes through all turns that are
 * due, however many there are and must stay; if the number of batches is limited, the next search continues.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { DAY_MS } from '../history/touch-loaded-turns.ts'
import type {
  ExpiryPageRequest,
  ExpiryCursor,
} from '../../store/deletion/expiry-and-deletion-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ExpiryDependencies = Ports<'deletion' | 'settings' | 'nowMs' | 'log'>

const BATCH_TURNS = 500
const PAUSE_MS = 100

export interface ExpiryLimits {
  /** The maximum number of batches; no limit by default. */
  readonly maxBatches?: number
  readonly pauseMs?: number
  readonly signal?: AbortSignal
}

/** Deletes expired turns and returns the number of deleted turns. Logs a database error instead of throwing it. */
export async function expireUnusedTurns(
  { deletion, settings, nowMs, log }: ExpiryDependencies,
  { maxBatches = Number.POSITIVE_INFINITY, pauseMs = PAUSE_MS, signal }: ExpiryLimits = {},
): Promise<number> {
  const now = nowMs()
  let remainingBatches = maxBatches
  let removed = 0
  /**
   * Deletes turns from the latest to the oldest. Starts again after a deletion, because an older turn can be
   * deleted once its last descendant is gone.
   */
  const deleteUnused = async (chats: ExpiryPageRequest['chats'], days: number): Promise<void> => {
    const isLimited = Number.isFinite(maxBatches)
    const start: ExpiryCursor | null = isLimited ? await deletion.loadExpiryCursor(chats) : null
    let after = start
    let removedNow = 0
    do {
      if (remainingBatches < maxBatches) await pause(pauseMs)
      if (signal?.aborted === true) return
      if (remainingBatches === 0) return deletion.saveExpiryCursor(chats, after)
      remainingBatches -= 1
      const unusedSinceMs = now - days * DAY_MS
      const expired = await deletion.expireTurns({
        chats,
        unusedSinceMs,
        nowMs: now,
        after,
        limit: BATCH_TURNS,
      })
      removed += expired.deletedCount
      removedNow += expired.deletedCount
      after = expired.next
    } while (after !== null)
    if (start !== null) await deletion.saveExpiryCursor(chats, null)
    if (removedNow > 0 || start !== null) await deleteUnused(chats, days)
  }
  try {
    // Two days, because the time of last use is updated only once a day.
    await deleteUnused('temporary', 2)
    if (settings.RETENTION_DAYS !== null) await deleteUnused('all', settings.RETENTION_DAYS)
  } catch (error) {
    // An error while the process stops is not logged, because the database may be closed already.
    if (signal?.aborted !== true) log('warn', 'turns-not-expired', { why: errorMessage(error) })
  }
  if (removed > 0) log('info', 'turns-expired', { turns: removed })
  return removed
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds)
    // A pause must not keep a finished process alive. On Workers, a timer is a number without `unref`.
    if (typeof timer === 'object') (timer as NodeJS.Timeout).unref()
  })
}

const FIRST_DELAY_MS = 5 * 60 * 1000
const INTERVAL_MS = 60 * 60 * 1000

/** Starts the hourly deletion. Returns a function that stops it; a query in progress still finishes. */
export function expireTurnsHourly(ports: ExpiryDependencies): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  let timer: ReturnType<typeof setTimeout>
  const wait = (milliseconds: number): void => {
    // A random factor from 0.8 to 1.2, so that replicas that start together do not delete at the same time.
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
