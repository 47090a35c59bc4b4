/**
 * Drops the oldest items of a round that exceeds four windows by itself, for example with hundreds of tool calls.
 * Calls are dropped together with their outputs, and reasoning with the items that it led to. The rules in
 * `keep-recent-rounds.ts` apply.
 *
 * The cut moves in steps of half of `maxWeight`, counted from the first item that `keepRecentRounds` has left. When
 * `keepRecentRounds` drops that item, this cut moves, too. The provider's cache is invalid then anyway.
 */
import type { Item } from '../../core/item.ts'
import {
  countItemsBeforeFirstRound,
  isAssistantMessage,
  findQuestionEnd,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { findCutPoints } from '../cut-points.ts'
import { filterItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../always-sent-items.ts'
import {
  WEIGHING_FUNCTIONS,
  computePrefixSums,
  sumWeights,
  weightBetween,
  type PrefixSums,
} from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface RoundTrimLimit {
  readonly unit: 'items' | 'tokens'
  /** The maximum of items or tokens that are sent, e.g. 160 items for a window of 40. At least 1. */
  readonly maxWeight: number
}

export function trimLongRounds({ unit, maxWeight }: RoundTrimLimit): Transform {
  const weigh = WEIGHING_FUNCTIONS[unit]
  return {
    name: `bound-${unit}`,
    prefixChanges: 'permanent',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const weightBefore = computePrefixSums(weigh(items, stays))
      if (weightBetween(weightBefore, 0, items.length) <= maxWeight) return { items, notes: [] }
      const ranges = chooseKeptRanges(items, weightBefore, maxWeight)
      const isKept = (index: number, item: Item) =>
        ranges.some(([start, end]) => index >= start && index < end) || stays(index, item)
      return filterItems(items, isKept, 'windowed')
    },
  }
}

/**
 * The ranges of items that stay: all items after the cut, the question of the round in which the cut is, and the last
 * assistant message before the cut with its reasoning. That message stays even if later answers follow the cut:
 * dropping it when the first of those arrives would change the prefix although the cut has not moved.
 */
type KeptRanges = readonly (readonly [start: number, end: number])[]

/**
 * Returns the ranges of items that stay. Tries one cut in each step of half of `maxWeight`, the earliest first, and
 * chooses the first one with which at most `maxWeight` stays; if there is none, the last possible cut.
 */
function chooseKeptRanges(
  items: readonly Item[],
  weightBefore: PrefixSums,
  maxWeight: number,
): KeptRanges {
  const head = countItemsBeforeFirstRound(items)
  const step = Math.ceil(maxWeight / 2)
  // A quarter of `maxWeight` is reserved for the question and the answer before the cut, which stay.
  const reserved = Math.floor(maxWeight / 4)
  const excess = weightBetween(weightBefore, 0, items.length) - (maxWeight - reserved)
  const cutPoints = findCutPoints(items, head)
  const rangesAt = createKeptRangesReader(items, head)
  let stepsDone = Math.ceil(excess / step) - 1
  for (const cut of cutPoints) {
    const steps = Math.floor((weightBefore[cut] ?? 0) / step)
    // Only the first cut point in each step of `step` weight is tried, so that the cut does not move with each item.
    if (steps <= stepsDone) continue
    stepsDone = steps
    const ranges = rangesAt(cut)
    const weights = ranges.map(([start, end]) => weightBetween(weightBefore, start, end))
    // Otherwise tries the next step: the question and the answer before the cut needed more than the quarter of
    // `maxWeight` that is reserved for them.
    if (sumWeights(weights) <= maxWeight) return ranges
  }
  return rangesAt(cutPoints.at(-1) ?? head)
}

/**
 * Returns a function that returns the ranges of items that stay with a cut at the given index. Its calls must have
 * increasing cuts, because each call continues the search of the call before.
 */
function createKeptRangesReader(items: readonly Item[], head: number): (cut: number) => KeptRanges {
  const starts = findRoundStarts(items)
  let round = -1
  let next = head
  let answerEnd = head
  return (cut) => {
    while ((starts[round + 1] ?? Infinity) <= cut) round += 1
    for (; next < cut; next += 1) if (isAssistantMessage(items[next])) answerEnd = next + 1
    const question = starts[round] ?? cut
    let answer = Math.max(head, answerEnd - 1)
    while (answer > head && items[answer - 1]?.type === 'reasoning') answer -= 1
    return [
      [cut, items.length],
      [question, Math.min(cut, findQuestionEnd(items, question))],
      [answer, answerEnd],
    ]
  }
}
