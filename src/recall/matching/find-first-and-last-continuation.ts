/**
 * Turns of one answer that have the same name: each goes on from another with nothing new, and says
 * nothing more.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/** The one that goes on from all others; `null` if they are not of one answer. */
export function findLastContinuation(
  turns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): RecordedTurn | null {
  const isLast = (turn: RecordedTurn): boolean =>
    turns.every((other) => other === turn || isContinuationOf(turn, other, ancestry))
  return turns.find(isLast) ?? null
}

/** The one that all others go on from. */
export function findFirstContinuation(
  turns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): RecordedTurn | null {
  const isFirst = (turn: RecordedTurn): boolean =>
    turns.every((other) => other === turn || isContinuationOf(other, turn, ancestry))
  return turns.find(isFirst) ?? null
}

function isContinuationOf(
  turn: RecordedTurn,
  other: RecordedTurn,
  ancestry: TurnAncestry,
): boolean {
  for (const ancestor of ancestry.listAncestorsInAnswer(turn)) if (ancestor === other) return true
  const continuedAnswer = extractContinuedAnswer(turn)
  return continuedAnswer !== null && endsWithAnswer(continuedAnswer, other)
}
