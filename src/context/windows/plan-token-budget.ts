/**
 * Plans which items are shortened and dropped so that a conversation fits its model. Outputs of finished
 * rounds are shortened first, then the oldest rounds are dropped. If the current round does not fit even alone, its
 * outputs are capped.
 *
 * The plan depends only on the list, so that each replica drops the same items. It replays how the list grew, item by
 * item: an item that did not fit at some point stays dropped, even if a later round that needed its place has been
 * shortened since.
 *
 * Cuts move in steps: the weights of all items before a round are added up, and a cut is made only at a round at which
 * this sum passes a multiple of a power of two, e.g. of 8192 tokens. The weight of an item never changes
 * (`token-budget-weights.ts`), so these positions stay the same.
 */
import type { Item } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import type { KeepPredicate } from '../always-sent-items.ts'
import {
  computeBudgetWeights,
  type ItemReductions,
  type TokenBudgetWeights,
} from './token-budget-weights.ts'
import { weightBetween, type PrefixSums } from './item-weights.ts'

export interface TokenBudgetOptions extends ItemReductions {
  /** The maximum number of tokens of all items that are sent. At least 1. */
  readonly maxTokens: number
  /** The maximum number of images that are sent from rounds before the current one. */
  readonly maxImages: number
}

export interface TokenBudgetPlan {
  /** Items before this index are dropped, unless they are always sent. */
  readonly dropBefore: number
  /** Outputs before this index are shortened, unless they are always sent. */
  readonly shortenBefore: number
  /** 1 at each index inside a round whose outputs are capped, because the round exceeds the budget by itself. */
  readonly isCapped: Uint8Array
}

export function planTokenBudget(
  items: readonly Item[],
  stays: KeepPredicate,
  options: TokenBudgetOptions,
): TokenBudgetPlan {
  const starts = findRoundStarts(items)
  const roundStarts = starts[0] === 0 ? starts : [0, ...starts]
  const weights = computeBudgetWeights(items, stays, options)
  const replay = createReplay(weights, options)
  for (const [round, start] of roundStarts.entries()) {
    const end = roundStarts[round + 1] ?? items.length
    replay.beginRound()
    for (let length = start + 1; length <= end; length += 1) replay.growTo(length)
    replay.endRound(end)
  }
  return replay.plan()
}

/**
 * Replays how the list grew, item by item, and tracks which rounds were dropped and shortened meanwhile. Rounds are
 * numbered from 0. Items before the first question are round 0.
 */
function createReplay(weights: TokenBudgetWeights, { maxTokens, maxImages }: TokenBudgetOptions) {
  const rounds: RoundStart[] = []
  const isCapped = new Uint8Array(weights.unchanged.length)
  let current: RoundStart = { start: 0, unchanged: 0, shortened: 0, images: 0 }
  /** The number of the first round that is sent. */
  let cut = 0
  /** The number of the first round with full outputs, once shortening has begun. */
  let shortenedRounds = 0
  let isCapping = false
  let isShortening = false

  const roundAt = (round: number): RoundStart => rounds[round] ?? current
  const weightSinceStart = (sums: PrefixSums, length: number) =>
    weightBetween(sums, current.start, length)
  /**
   * Returns the weight of the current round up to `length`, and of all items before `length` that are always sent.
   * Outputs of the round are weighed as capped once it exceeds the budget by itself.
   */
  const weighCurrentRound = (length: number) =>
    (weights.alwaysSent[length] ?? 0) +
    weightSinceStart(isCapping ? weights.capped : weights.unchanged, length) +
    (maxImages === 0 ? 0 : weightSinceStart(weights.images, length) * IMAGE_TOKENS)
  /**
   * Returns the weight of the rounds from number `from` up to the current round, without the current one. Outputs of
   * rounds before number `shortenedTo` are weighed as shortened.
   */
  const weighEarlierRounds = (from: number, shortenedTo: number): number => {
    const first = roundAt(from)
    const visibleImages = Math.min(current.images - first.images, maxImages)
    const middle = roundAt(Math.max(from, shortenedTo))
    const text = middle.shortened - first.shortened + current.unchanged - middle.unchanged
    return text + visibleImages * IMAGE_TOKENS
  }
  const fits = (from: number, length: number) =>
    weighCurrentRound(length) + weighEarlierRounds(from, shortenedRounds) <= maxTokens

  return {
    beginRound(): void {
      rounds.push(current)
      isCapping = false
      const stepTokens = roundDownToPowerOfTwo(maxTokens / 8)
      if (passesStep(roundAt(shortenedRounds).unchanged, current.unchanged, stepTokens)) {
        shortenedRounds = rounds.length - 1
      }
    },
    growTo(length: number): void {
      if (!isCapping && weighCurrentRound(length) > maxTokens) isCapping = true
      // Until the budget is first exceeded, all outputs count with their complete size: a policy shortens them only
      // where that saves costs.
      isShortening ||= weighCurrentRound(length) + weighEarlierRounds(0, 0) > maxTokens
      if (!isShortening || fits(cut, length)) return
      const widestStep = roundDownToPowerOfTwo(maxTokens / 4)
      cut = findNextCut(rounds, cut, (round) => fits(round, length), widestStep)
    },
    endRound(end: number): void {
      if (isCapping) isCapped.fill(1, current.start, end)
      current = {
        start: end,
        unchanged:
          current.unchanged + weightSinceStart(isCapping ? weights.capped : weights.unchanged, end),
        shortened:
          current.shortened + weightSinceStart(isCapping ? weights.capped : weights.shortened, end),
        images: weights.images[end] ?? 0,
      }
    },
    plan(): TokenBudgetPlan {
      const dropBefore = isShortening ? roundAt(cut).start : 0
      const shortenBefore = isShortening ? roundAt(shortenedRounds).start : 0
      return { dropBefore, shortenBefore, isCapped }
    },
  }
}

/** A round: the index at which it starts, with the weights and the number of images of all items before it. */
interface RoundStart {
  readonly start: number
  readonly unchanged: number
  readonly shortened: number
  readonly images: number
}

/**
 * Returns the number of the first round to send, if the rounds from `cut` on do not fit. `isEnough` is true for a round
 * if the list fits when it begins with that round. Rounds at multiples of the widest step are tried first, so that cuts
 * are rare, then those at multiples of half of it, and so on. Returns the latest round if no cut is enough.
 */
function findNextCut(
  rounds: readonly RoundStart[],
  cut: number,
  isEnough: (round: number) => boolean,
  widestStep: number,
): number {
  const latest = rounds.length - 1
  for (let step = widestStep; step >= 1; step /= 2) {
    let from = rounds[cut]?.shortened ?? 0
    for (let round = cut + 1; round < latest; round += 1) {
      const { shortened } = rounds[round] as RoundStart
      if (!passesStep(from, shortened, step)) continue
      if (isEnough(round)) return round
      from = shortened
    }
  }
  return latest
}

function passesStep(before: number, after: number, step: number): boolean {
  return Math.floor(after / step) > Math.floor(before / step)
}

/**
 * Rounds down to a power of two, e.g. 10000 → 8192. Two budgets that differ slightly thus mostly have the same steps.
 */
function roundDownToPowerOfTwo(tokens: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(tokens)))
}
