/** Whether a turn is on its way, and whether anybody is still on it. */
import {
  OWNERLESS_RUN_TIMEOUT_MS,
  type RunLogPage,
} from '../store/background-runs/run-store-interface.ts'
import type { TurnState } from '../store/turns/turn-store-interface.ts'

/** Whether an answer is still being made. What is in flight can be neither deleted nor continued. */
export function isTurnUnfinished(state: TurnState): boolean {
  return state === 'queued' || state === 'open'
}

/** Whether nobody makes it any more, though it is not over. */
export function isRunOrphaned(page: RunLogPage, nowMs: number): boolean {
  if (!isTurnUnfinished(page.state)) return false
  if (page.owner === null) return page.createdAtMs <= nowMs - OWNERLESS_RUN_TIMEOUT_MS
  return page.aliveUntilMs === null || page.aliveUntilMs <= nowMs
}
