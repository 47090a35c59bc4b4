/**
 * What a turn was told of the answer that it continued. Where it is stored with all that it was told, that
 * is there, as it was then, though nothing says whose it had been.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { hasSameContent } from '../compare-items.ts'

/** As a turn; `null` if it was not recorded. */
export function extractContinuedAnswer(turn: RecordedTurn): RecordedTurn | null {
  const { input } = turn
  const answerStart = input.findLastIndex((item) => !isModelItem(item)) + 1
  const output = input.slice(answerStart)
  if (output.every(({ origin }) => origin === undefined)) return null
  return {
    ...turn,
    fingerprint: null,
    reasoningRefusedBy: null,
    input: input.slice(0, answerStart),
    output,
  }
}

/** Whether what the other made is the last of it. */
export function endsWithAnswer(continuedAnswer: RecordedTurn, { output }: RecordedTurn): boolean {
  if (output.length === 0 || output.length > continuedAnswer.output.length) return false
  const lastItems = continuedAnswer.output.slice(-output.length)
  return lastItems.every((item, index) => hasSameContent(output[index] ?? item, item))
}
