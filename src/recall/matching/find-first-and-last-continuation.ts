/**
 * Selects the first or the last of several turns that share a fingerprint because each continues
 * the previous one without new input or new text.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/** Returns the turn that continues all others; `null` if they are not of one answer. */
export function findLastContinuation(
  turns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): RecordedTurn | null {
  const isLast = (turn: RecordedTurn): boolean =>
    turns.every((other) => other === turn || continuesTurn(turn, other, ancestry))
  return turns.find(isLast) ?? null
}

/** Returns the turn that all others continue; `null` if they are not of one answer. */
export function findFirstContinuation(
  turns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): RecordedTurn | null {
  const isFirst = (turn: RecordedTurn): boolean =>
    turns.every((other) => other === turn || continuesTurn(other, turn, ancestry))
  return turns.find(isFirst) ?? null
}

function continuesTurn(turn: RecordedTurn, other: RecordedTurn, ancestry: TurnAncestry): boolean {
  for (const ancestor of ancestry.listAncestorsInAnswer(turn)) if (ancestor === other) return true
  const continuedAnswer = extractContinuedAnswer(turn)
  return continuedAnswer !== null && endsWithAnswer(continuedAnswer, other)
}
