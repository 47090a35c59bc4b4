/**
 * Extracts from a turn's input the answer that the turn continues. An input that was stored with
 * its complete history ends with that answer, but does not name the turn that made it.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { hasSameContent } from '../compare-items.ts'

/**
 * Returns the continued answer in the form of a turn; `null` if its items were not recorded by the
 * gateway.
 */
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

/** True if the continued answer ends with the other turn's output. */
export function endsWithAnswer(continuedAnswer: RecordedTurn, { output }: RecordedTurn): boolean {
  if (output.length === 0 || output.length > continuedAnswer.output.length) return false
  const lastItems = continuedAnswer.output.slice(-output.length)
  return lastItems.every((item, index) => hasSameContent(output[index] ?? item, item))
}
