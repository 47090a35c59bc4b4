/**
 * What a turn was told of the answer that it continued. Where it is stored with all that it was told, that
 * is there, as it was then, though nothing says whose it had been.
 */
import { isOfModel } from '../../core/items/is-model-item.ts'
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import { saysTheSame } from '../compare-items.ts'

/** As a turn; `null` if it was not recorded. */
export function toldIn(turn: RememberedTurn): RememberedTurn | null {
  const { input } = turn
  const from = input.findLastIndex((item) => !isOfModel(item)) + 1
  const output = input.slice(from)
  if (output.every(({ origin }) => origin === undefined)) return null
  return {
    ...turn,
    fingerprint: null,
    reasoningRefusedBy: null,
    input: input.slice(0, from),
    output,
  }
}

/** Whether what the other made is the last of it. */
export function endsWith(told: RememberedTurn, { output }: RememberedTurn): boolean {
  if (output.length === 0 || output.length > told.output.length) return false
  const last = told.output.slice(-output.length)
  return last.every((item, at) => saysTheSame(output[at] ?? item, item))
}
