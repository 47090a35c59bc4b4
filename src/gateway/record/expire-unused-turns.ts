/**
 * How long turns are kept: those that nobody has needed for RETENTION_DAYS go, and those of chats that
 * are not meant to last after two days. A turn on which something stands stays as long as that. It is
 * done in small rounds with rests between them, so that nobody who asks for something waits for it.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Expiry, ExpiryCursor } from '../../store/recall/recall-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'

export type ExpiryDependencies = Ports<'recall' | 'settings' | 'nowMs' | 'log'>

/** Turns of one round. */
const ROUND = 500
/** Whatever is left after so many waits for the next time. */
const MAX_ROUNDS = 200
const REST_MS = 100
const DAY_MS = 24 * 60 * 60 * 1000

export interface ExpiryLimits {
  readonly rounds?: number
  readonly restMs?: number
  readonly signal?: AbortSignal
}

/** Resolves to how many turns were removed. A database that fails is told once, and asked next time. */
export async function expireUnusedTurns(
  { recall, settings, nowMs, log }: ExpiryDependencies,
  { rounds = MAX_ROUNDS, restMs = REST_MS, signal }: ExpiryLimits = {},
): Promise<number> {
  const now = nowMs()
  let left = rounds
  let removed = 0
  /** From the newest to the oldest. Who goes may have been the last on which somebody stood. */
  const sweep = async (of: Expiry['of'], days: number): Promise<void> => {
    let after: ExpiryCursor | null = null
    let removedNow = 0
    do {
      if (left < rounds) await rest(restMs)
      if (left === 0 || signal?.aborted === true) return
      left -= 1
      const unusedSinceMs = now - days * DAY_MS
      const expired = await recall.expireTurns({
        of,
        unusedSinceMs,
        nowMs: now,
        after,
        limit: ROUND,
      })
      removed += expired.removed
      removedNow += expired.removed
      after = expired.next
    } while (after !== null)
    if (removedNow > 0) await sweep(of, days)
  }
  try {
    // Of what is needed it is said once a day, so that one day is not enough.
    await sweep('temporary', 2)
    if (settings.RETENTION_DAYS !== null) await sweep('all', settings.RETENTION_DAYS)
  } catch (error) {
    // Of a process that stops, the database may be gone already.
    if (signal?.aborted !== true) log('warn', 'turns-not-expired', { why: errorMessage(error) })
  }
  if (removed > 0) log('info', 'turns-expired', { turns: removed })
  return removed
}

function rest(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds)
    // A process that has nothing else to do may end; on Workers it is a number.
    if (typeof timer === 'object') (timer as NodeJS.Timeout).unref()
  })
}

const FIRST_MS = 5 * 60 * 1000
const EVERY_MS = 60 * 60 * 1000

/** For a process that lasts. Returns what stops it, at once; a round that is under way is finished. */
export function expireTurnsHourly(world: ExpiryDependencies): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  let timer: ReturnType<typeof setTimeout>
  const wait = (milliseconds: number): void => {
    // Replicas that were started together need not do it together.
    timer = setTimeout(() => void run(), milliseconds * (0.8 + 0.4 * Math.random())).unref()
  }
  const run = async (): Promise<void> => {
    await expireUnusedTurns(world, { signal })
    if (!signal.aborted) wait(EVERY_MS)
  }
  wait(FIRST_MS)
  return () => {
    stopping.abort()
    clearTimeout(timer)
  }
}
