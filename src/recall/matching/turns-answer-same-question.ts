/**
 * Turns that a client may have made one text of: none of them was asked anything new since the one
 * before it. What stands behind results of tools, such as a picture that one has made, asks nothing.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { listOutputCallIds } from '../split-and-fingerprint-segments.ts'

/** `turns` in the order in which they are told. Of what is not known nothing is said against them. */
export function answerSameQuestion(
  turns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): boolean {
  const askedTurns = turns.flatMap((turn) => findAskedTurn(turn, ancestry) ?? [])
  return askedTurns.every((askedTurn) => askedTurn === askedTurns[0])
}

/** The turn that was asked what this one, too, answers; `null` if that is not known. */
function findAskedTurn(turn: RecordedTurn, ancestry: TurnAncestry): RecordedTurn | null {
  if (asksNewQuestion(turn)) return turn
  for (const ancestor of ancestry.listAncestors(turn))
    if (asksNewQuestion(ancestor)) return ancestor
  return null
}

export function asksNewQuestion({ input }: RecordedTurn): boolean {
  const newItems = input.slice(input.findLastIndex(isModelItem) + 1)
  return (
    newItems.some(isUserMessage) && !newItems.some((item) => listOutputCallIds(item).length > 0)
  )
}
