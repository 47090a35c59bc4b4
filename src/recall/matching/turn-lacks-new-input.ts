/** Whether a turn went on from words of a model, and was asked nothing new. */
import { isOfModel } from '../../core/items/is-model-item.ts'
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'

export function wentOn({ input }: RememberedTurn): boolean {
  const before = input.at(-1)
  return before === undefined || isOfModel(before)
}
