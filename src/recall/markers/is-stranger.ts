/**
 * Whether a turn cannot have gone on from another: all that it goes on from is known, and the other is
 * not among it. Of what stands before a turn that is stored with a whole chat, or with the end of one,
 * that chat tells.
 */
import { isOfModel } from '../../core/items/is-model-item.ts'
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import type { Kin } from '../turn-ancestry.ts'
import { saysTheSame } from '../compare-items.ts'

export function isStranger(kin: Kin, turn: RememberedTurn, other: RememberedTurn): boolean {
  let first = turn
  if (turn === other || isToldIn(turn, other)) return false
  for (const ancestor of kin.ancestors(turn)) {
    if (ancestor === other || isToldIn(ancestor, other)) return false
    first = ancestor
  }
  return first.parent === null
}

/** Whether it was told anything that the other has made. */
function isToldIn({ input }: RememberedTurn, { output }: RememberedTurn): boolean {
  const told = input.filter(isOfModel)
  return told.length > 0 && output.some((item) => told.some((one) => saysTheSame(item, one)))
}
