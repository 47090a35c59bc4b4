/**
 * Thins what is still too long with whole rounds in it: a round of hundreds of tool steps. The
 * oldest groups behind its question are dropped, each group whole: reasoning with what it led to,
 * calls with their outputs. `keepRecentRounds` says what wins over what.
 *
 * This cut, too, moves in steps of half of `most`. In a history that `keepRecentRounds` has cut they
 * are counted from that cut, where a provider's cache begins anew anyway.
 */
import type { Item } from '../../core/item.ts'
import {
  countHeadItems,
  isAssistantMessage,
  findQuestionEnd,
  findRoundStarts,
} from '../../core/items/rounds-and-pinned-items.ts'
import { findCutPoints } from '../cut-points.ts'
import { filterItems } from '../filter-items.ts'
import {
  createAlwaysSentGroupPredicate,
  ITEM_WEIGHTS,
  computePrefixSums,
  weightBetween,
  type PrefixSums,
} from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface RoundTrimLimit {
  readonly by: 'items' | 'tokens'
  /** At least 1. */
  readonly most: number
}

export function trimLongRounds({ by, most }: RoundTrimLimit): Transform {
  const weigh = ITEM_WEIGHTS[by]
  return {
    name: `bound-${by}`,
    prefixStability: 'lasting',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const before = computePrefixSums(weigh(items, stays))
      if (weightBetween(before, 0, items.length) <= most) return { items, notes: [] }
      const isKept = thinned(items, before, most)
      return filterItems(items, (at, item) => isKept(at) || stays(at, item), 'windowed')
    },
  }
}

function thinned(
  items: readonly Item[],
  before: PrefixSums,
  most: number,
): (at: number) => boolean {
  const head = countHeadItems(items)
  const stride = Math.ceil(most / 2)
  // Room for what is kept from before the cut.
  const room = Math.floor(most / 4)
  const excess = weightBetween(before, 0, items.length) - (most - room)
  const borders = findCutPoints(items, head)
  const anchorsAt = openAnchors(items, head)
  let step = Math.ceil(excess / stride) - 1
  for (const border of borders) {
    const reached = Math.floor((before[border] ?? 0) / stride)
    // No step leads to this border, but to one in front of it.
    if (reached <= step) continue
    step = reached
    const anchors = anchorsAt(border)
    // Where the room was too small, another step.
    if (keptWeight(before, anchors, items.length) <= most) return keepsFrom(anchors)
  }
  // The newest group stays in any case.
  return keepsFrom(anchorsAt(borders.at(-1) ?? head))
}

/**
 * A cut, and what stays before it: the question that is being worked on and the last message of the
 * assistant. That message stays even if there are others behind the cut: if it went when the first
 * of those arrives, the prefix would change between two steps.
 */
interface Anchors {
  readonly cut: number
  readonly question: number
  readonly behindQuestion: number
  /** Behind the message, and where the reasoning begins that led to it. */
  readonly behindAnswer: number
  readonly answer: number
}

/** Asked for one cut after the other, it reads on from where it was. */
function openAnchors(items: readonly Item[], head: number): (cut: number) => Anchors {
  const starts = findRoundStarts(items)
  let round = -1
  let read = head
  let behindAnswer = head
  return (cut) => {
    while ((starts[round + 1] ?? Infinity) <= cut) round += 1
    for (; read < cut; read += 1) if (isAssistantMessage(items[read])) behindAnswer = read + 1
    const question = starts[round] ?? cut
    let answer = Math.max(head, behindAnswer - 1)
    while (answer > head && items[answer - 1]?.type === 'reasoning') answer -= 1
    return { cut, question, behindQuestion: findQuestionEnd(items, question), behindAnswer, answer }
  }
}

function keptWeight(before: PrefixSums, anchors: Anchors, length: number): number {
  const { cut, question, behindQuestion, behindAnswer, answer } = anchors
  return (
    weightBetween(before, cut, length) +
    weightBetween(before, question, Math.min(cut, behindQuestion)) +
    weightBetween(before, answer, behindAnswer)
  )
}

function keepsFrom(anchors: Anchors): (at: number) => boolean {
  const { cut, question, behindQuestion, behindAnswer, answer } = anchors
  return (at) =>
    at >= cut || (at >= question && at < behindQuestion) || (at >= answer && at < behindAnswer)
}
