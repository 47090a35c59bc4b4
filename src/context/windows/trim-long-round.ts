/**
 * Drops old parts of a round that exceeds four windows by itself, for example with hundreds of tool calls.
 * The oldest groups after the question go first, each group complete: reasoning with the items that it
 * led to, calls with their outputs. `keepRecentRounds` documents the order of precedence.
 *
 * The cut moves in steps of half of `maxWeight`, counted from the first remaining item. If `keepRecentRounds`
 * has moved its own cut, the provider's cache starts again there anyway.
 */
import type { Item } from '../../core/item.ts'
import {
  countItemsBeforeFirstTurn,
  isAssistantMessage,
  findQuestionEnd,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { findCutPoints } from '../cut-points.ts'
import { filterItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../find-undroppable-items.ts'
import { ITEM_WEIGHTS, computePrefixSums, weightBetween, type PrefixSums } from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface RoundTrimLimit {
  readonly by: 'items' | 'tokens'
  /** The maximum weight, e.g. 160 items for a window of 40. At least 1. */
  readonly maxWeight: number
}

export function trimLongRounds({ by, maxWeight }: RoundTrimLimit): Transform {
  const weigh = ITEM_WEIGHTS[by]
  return {
    name: `bound-${by}`,
    prefixStability: 'lasting',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const weightBefore = computePrefixSums(weigh(items, stays))
      if (weightBetween(weightBefore, 0, items.length) <= maxWeight) return { items, notes: [] }
      const anchors = findAnchors(items, weightBefore, maxWeight)
      const isKept = (index: number, item: Item) =>
        isInAnchors(index, anchors) || stays(index, item)
      return filterItems(items, isKept, 'windowed')
    },
  }
}

/** Returns the first cut on a step that leaves at most `maxWeight`, or the cut before the last group. */
function findAnchors(
  items: readonly Item[],
  weightBefore: PrefixSums,
  maxWeight: number,
): TrimAnchors {
  const head = countItemsBeforeFirstTurn(items)
  const step = Math.ceil(maxWeight / 2)
  // A quarter of `maxWeight` is reserved for the question and the answer that stay from before the cut.
  const reserved = Math.floor(maxWeight / 4)
  const excess = weightBetween(weightBefore, 0, items.length) - (maxWeight - reserved)
  const cutPoints = findCutPoints(items, head)
  const anchorsAt = createAnchorReader(items, head)
  let stepsDone = Math.ceil(excess / step) - 1
  for (const cut of cutPoints) {
    const steps = Math.floor((weightBefore[cut] ?? 0) / step)
    // Skips cut points at which no new step is reached.
    if (steps <= stepsDone) continue
    stepsDone = steps
    const anchors = anchorsAt(cut)
    // Tries the next step if the reserved quarter was too small.
    if (weighAnchors(weightBefore, anchors, items.length) <= maxWeight) return anchors
  }
  return anchorsAt(cutPoints.at(-1) ?? head)
}

/**
 * A cut, and the ranges before it that stay: the question in progress, and the last assistant message before
 * the cut with its reasoning. That message stays even if later answers follow the cut: dropping it when the
 * first of these arrives would change the prefix between two steps.
 */
interface TrimAnchors {
  readonly cut: number
  readonly question: number
  readonly questionEnd: number
  /** The index of the reasoning that led to the assistant message, or of the message itself. */
  readonly answer: number
  readonly answerEnd: number
}

/** Returns a function for increasing cuts; it continues to read where the previous call stopped. */
function createAnchorReader(items: readonly Item[], head: number): (cut: number) => TrimAnchors {
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
    return { cut, question, questionEnd: findQuestionEnd(items, question), answer, answerEnd }
  }
}

function weighAnchors(weightBefore: PrefixSums, anchors: TrimAnchors, length: number): number {
  const { cut, question, questionEnd, answer, answerEnd } = anchors
  return (
    weightBetween(weightBefore, cut, length) +
    weightBetween(weightBefore, question, Math.min(cut, questionEnd)) +
    weightBetween(weightBefore, answer, answerEnd)
  )
}

function isInAnchors(index: number, anchors: TrimAnchors): boolean {
  const { cut, question, questionEnd, answer, answerEnd } = anchors
  return (
    index >= cut ||
    (index >= question && index < questionEnd) ||
    (index >= answer && index < answerEnd)
  )
}
