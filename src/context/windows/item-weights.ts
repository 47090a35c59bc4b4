/**
 * What a history is measured by. Each item has a weight; what stays in any case, such as the
 * instructions at the head and what is pinned, weighs nothing.
 */
import type { Item } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import {
  countHeadItems,
  isUserMessage,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import {
  createPinnedGroupPredicate,
  createPinnedItemPredicate,
  type KeepPredicate,
} from '../find-undroppable-items.ts'

export const ITEM_WEIGHTS = { items: byItems, turns: byTurns, tokens: byTokens }

/** Whether an item is sent in any case. */
export function createAlwaysSentItemPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedItemPredicate(items))
}

/** The same for a list that is in order, in which nothing is parted from its group. */
export function createAlwaysSentGroupPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedGroupPredicate(items))
}

function orInHead(items: readonly Item[], isPinned: KeepPredicate): KeepPredicate {
  const head = countHeadItems(items)
  return (at, item) => at < head || isPinned(at, item)
}

export function sumWeights(weights: readonly number[]): number {
  let total = 0
  for (const weight of weights) total += weight
  return total
}

/** At each place what all in front of it weighs, and, at the last one, everything. */
export type PrefixSums = readonly number[]

export function computePrefixSums(weights: readonly number[]): PrefixSums {
  let total = 0
  return [0, ...weights.map((weight) => (total += weight))]
}

export function weightBetween(sums: PrefixSums, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0)
}

function byItems(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  return items.map((item, at) => (stays(at, item) ? 0 : 1))
}

function byTokens(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  return items.map((item, at) => (stays(at, item) ? 0 : estimateItemTokens(item)))
}

/**
 * The first item of a round that may go stands for the round. The newest round counts from its question
 * on, even a pinned one: else the cut would move when the model begins to work on it.
 */
function byTurns(items: readonly Item[], stays: KeepPredicate): readonly number[] {
  const newest = findRoundStarts(items).at(-1) ?? items.length
  let isNew = false
  return items.map((item, at) => {
    if (isUserMessage(item) && !isUserMessage(items[at - 1])) isNew = true
    if (!isNew || (stays(at, item) && at < newest)) return 0
    isNew = false
    return 1
  })
}
