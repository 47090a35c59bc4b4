/**
 * Turns of one answer that have the same name: each goes on from another with nothing new, and says
 * nothing more.
 */
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import type { Kin } from '../turn-ancestry.ts'
import { endsWith, toldIn } from './extract-continued-answer.ts'

/** The one that goes on from all others; `null` if they are not of one answer. */
export function lastOfAnswer(turns: readonly RememberedTurn[], kin: Kin): RememberedTurn | null {
  const isLast = (turn: RememberedTurn): boolean =>
    turns.every((other) => other === turn || goesOnFrom(turn, other, kin))
  return turns.find(isLast) ?? null
}

/** The one that all others go on from. */
export function firstOfAnswer(turns: readonly RememberedTurn[], kin: Kin): RememberedTurn | null {
  const isFirst = (turn: RememberedTurn): boolean =>
    turns.every((other) => other === turn || goesOnFrom(other, turn, kin))
  return turns.find(isFirst) ?? null
}

function goesOnFrom(turn: RememberedTurn, other: RememberedTurn, kin: Kin): boolean {
  for (const ancestor of kin.ancestorsInAnswer(turn)) if (ancestor === other) return true
  const told = toldIn(turn)
  return told !== null && endsWith(told, other)
}
