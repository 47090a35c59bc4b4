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
export function answerSameQuestion(turns: readonly RecordedTurn[], kin: TurnAncestry): boolean {
  const starts = turns.flatMap((turn) => startOf(turn, kin) ?? [])
  return starts.every((start) => start === starts[0])
}

/** The turn that was asked what this one, too, answers; `null` if that is not known. */
function startOf(turn: RecordedTurn, kin: TurnAncestry): RecordedTurn | null {
  if (asksNewQuestion(turn)) return turn
  for (const ancestor of kin.ancestors(turn)) if (asksNewQuestion(ancestor)) return ancestor
  return null
}

export function asksNewQuestion({ input }: RecordedTurn): boolean {
  const news = input.slice(input.findLastIndex(isModelItem) + 1)
  return news.some(isUserMessage) && !news.some((item) => listOutputCallIds(item).length > 0)
}
