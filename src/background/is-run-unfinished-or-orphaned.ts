/** Whether a turn is on its way, and whether anybody is still on it. */
import { OWNERLESS_MS, type LogPage } from '../store/background-runs/run-store-interface.ts'
import type { TurnState } from '../store/turns/turn-store-interface.ts'

/** Whether an answer is still being made. What is in flight can be neither deleted nor continued. */
export function isInFlight(state: TurnState): boolean {
  return state === 'queued' || state === 'open'
}

/** Whether nobody makes it any more, though it is not over. */
export function isOrphaned(page: LogPage, nowMs: number): boolean {
  if (!isInFlight(page.state)) return false
  if (page.owner === null) return page.createdAtMs <= nowMs - OWNERLESS_MS
  return page.aliveUntilMs === null || page.aliveUntilMs <= nowMs
}
