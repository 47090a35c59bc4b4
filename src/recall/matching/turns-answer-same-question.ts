/**
 * Recognizes turns that answer the same question, whose texts a client may join into one. A user
 * message after tool outputs, e.g. an image that a tool made, is no new question.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { listOutputCallIds } from '../split-and-fingerprint-segments.ts'

/** True if all turns answer the same question. Turns whose question is unknown are ignored. */
export function haveSameQuestion(turns: readonly RecordedTurn[], ancestry: TurnAncestry): boolean {
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
