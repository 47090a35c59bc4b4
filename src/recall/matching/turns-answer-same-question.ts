/**
 * Recognizes turns that a client may join into one text: no turn after the first has a new
 * question. User messages after tool outputs, e.g. an image that a tool made, are no question.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { listOutputCallIds } from '../split-and-fingerprint-segments.ts'

/**
 * Takes the turns in the order of their markers. Turns with an unknown question do not count
 * against the others.
 */
export function shareQuestion(turns: readonly RecordedTurn[], ancestry: TurnAncestry): boolean {
  const askedTurns = turns.flatMap((turn) => findAskedTurn(turn, ancestry) ?? [])
  return askedTurns.every((askedTurn) => askedTurn === askedTurns[0])
}

/** Returns the turn with the question that this turn answers; `null` if it is unknown. */
function findAskedTurn(turn: RecordedTurn, ancestry: TurnAncestry): RecordedTurn | null {
  if (asksNewQuestion(turn)) return turn
  for (const ancestor of ancestry.listAncestors(turn))
    if (asksNewQuestion(ancestor)) return ancestor
  return null
}

export function asksNewQuestion({ input }: RecordedTurn): boolean {
  const newItems = input.slice(input.findLastIndex(isModelItem) + 1)
  const hasOutputs = newItems.some((item) => listOutputCallIds(item).length > 0)
  return newItems.some(isUserMessage) && !hasOutputs
}
