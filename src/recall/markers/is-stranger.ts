/**
 * Whether a turn cannot have gone on from another: all that it goes on from is known, and the other is
 * not among it. Of what stands before a turn that is stored with a whole chat, or with the end of one,
 * that chat tells.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { hasSameContent } from '../compare-items.ts'

export function isUnrelatedTurn(
  kin: TurnAncestry,
  turn: RecordedTurn,
  other: RecordedTurn,
): boolean {
  let first = turn
  if (turn === other || isToldIn(turn, other)) return false
  for (const ancestor of kin.ancestors(turn)) {
    if (ancestor === other || isToldIn(ancestor, other)) return false
    first = ancestor
  }
  return first.parent === null
}

/** Whether it was told anything that the other has made. */
function isToldIn({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const told = input.filter(isModelItem)
  return told.length > 0 && output.some((item) => told.some((one) => hasSameContent(item, one)))
}
