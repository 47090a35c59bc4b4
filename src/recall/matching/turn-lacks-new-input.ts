/** True if a turn continues model output without a new question or tool output. */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'

export function turnLacksNewInput({ input }: RecordedTurn): boolean {
  const lastItem = input.at(-1)
  return lastItem === undefined || isModelItem(lastItem)
}
