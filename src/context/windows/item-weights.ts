/**
 * Computes the weight of each item. A window limits the sum of the weights: the number of items, of rounds or of
 * tokens. Items that are always sent, such as pinned ones, have the weight 0.
 */
import type { Item } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import { isUserMessage, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import type { KeepPredicate } from '../always-sent-items.ts'

export const WEIGHING_FUNCTIONS = { items: weighItems, turns: weighRounds, tokens: weighTokens }

export function sumWeights(weights: readonly number[]): number {
  let total = 0
  for (const weight of weights) total += weight
  return total
}

/** At each index the total weight of all items before it, e.g. weights `[2, 3]` → `[0, 2, 5]`. */
export type PrefixSums = readonly number[]

export function computePrefixSums(weights: readonly number[]): PrefixSums {
  let total = 0
  return [0, ...weights.map((weight) => (total += weight))]
}

export function weightBetween(sums: PrefixSums, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0)
}

function weighItems(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  return items.map((item, index) => (stays(index, item) ? 0 : 1))
}

function weighTokens(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  return items.map((item, index) => (stays(index, item) ? 0 : estimateItemTokens(item)))
}

/**
 * Weighs items for a window of turns, so that each round counts once: its first item that the window can drop has the
 * weight 1, and all other items 0. In the latest round the question has the weight 1 even if it is pinned: otherwise
 * the cut would move when the model's first item arrives.
 */
function weighRounds(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  const latest = findRoundStarts(items).at(-1) ?? items.length
  let isUncounted = false
  return items.map((item, index) => {
    if (isUserMessage(item) && !isUserMessage(items[index - 1])) isUncounted = true
    if (!isUncounted || (stays(index, item) && index < latest)) return 0
    isUncounted = false
    return 1
  })
}
