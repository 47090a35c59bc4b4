/** Decides whether a turn is unfinished, and whether the replica that generates it has died. */
import type { RunLogPage } from '../store/background-runs/run-store-interface.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from '../store/background-runs/retention-and-orphan-times.ts'
import type { TurnState } from '../store/turns/turn-store-interface.ts'

/**
 * True for a turn whose answer is queued or being generated. Such a turn can be neither deleted nor
 * continued.
 */
export function isTurnUnfinished(state: TurnState): boolean {
  return state === 'queued' || state === 'open'
}

/**
 * True for an unfinished turn if the lease of its replica has expired. If no replica is recorded, true
 * after one hour.
 */
export function isRunOrphaned(page: RunLogPage, nowMs: number): boolean {
  if (!isTurnUnfinished(page.state)) return false
  if (page.replicaId === null) return page.createdAtMs <= nowMs - OWNERLESS_RUN_TIMEOUT_MS
  return page.replicaAliveUntilMs === null || page.replicaAliveUntilMs <= nowMs
}
