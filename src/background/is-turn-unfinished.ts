/** Decides whether a turn is unfinished. */
import type { TurnState } from '../store/turns/turn-store-interface.ts'

/**
 * True for a turn whose answer is queued or being generated. Such a turn can be neither deleted nor
 * continued.
 */
export function isTurnUnfinished(state: TurnState): boolean {
  return state === 'queued' || state === 'open'
}
