/** Whether a turn went on from words of a model, and was asked nothing new. */
import { isOfModel } from '../conversation/of-model.ts'
import type { RememberedTurn } from '../conversation/remembered.ts'

export function wentOn({ input }: RememberedTurn): boolean {
  const before = input.at(-1)
  return before === undefined || isOfModel(before)
}
