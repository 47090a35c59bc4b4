/**
 * What a history is measured by. Each item has a weight; what stays in any case, such as the
 * instructions at the head and what is pinned, weighs nothing.
 */
import type { Item } from '../../core/item.ts'
import { itemTokens } from '../../core/items/item-tokens.ts'
import { headLength, isUserMessage, roundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { pinnedGroups, pinnedPlaces, type Stays } from '../find-undroppable-items.ts'

export const MEASURES = { items: byItems, turns: byTurns, tokens: byTokens }

/** Whether an item is sent in any case. */
export function alwaysSent(items: readonly Item[]): Stays {
  return orInHead(items, pinnedPlaces(items))
}

/** The same for a list that is in order, in which nothing is parted from its group. */
export function alwaysSentWhole(items: readonly Item[]): Stays {
  return orInHead(items, pinnedGroups(items))
}

function orInHead(items: readonly Item[], isPinned: Stays): Stays {
  const head = headLength(items)
  return (at, item) => at < head || isPinned(at, item)
}

export function sum(weights: readonly number[]): number {
  let total = 0
  for (const weight of weights) total += weight
  return total
}

/** At each place what all in front of it weighs, and, at the last one, everything. */
export type Sums = readonly number[]

export function sumsOf(weights: readonly number[]): Sums {
  let total = 0
  return [0, ...weights.map((weight) => (total += weight))]
}

export function weightIn(sums: Sums, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0)
}

function byItems(items: readonly Item[], stays: Stays): readonly number[] {
  return items.map((item, at) => (stays(at, item) ? 0 : 1))
}

function byTokens(items: readonly Item[], stays: Stays): readonly number[] {
  return items.map((item, at) => (stays(at, item) ? 0 : itemTokens(item)))
}

/**
 * The first item of a round that may go stands for the round. The newest round counts from its question
 * on, even a pinned one: else the cut would move when the model begins to work on it.
 */
function byTurns(items: readonly Item[], stays: Stays): readonly number[] {
  const newest = roundStarts(items).at(-1) ?? items.length
  let isNew = false
  return items.map((item, at) => {
    if (isUserMessage(item) && !isUserMessage(items[at - 1])) isNew = true
    if (!isNew || (stays(at, item) && at < newest)) return 0
    isNew = false
    return 1
  })
}
