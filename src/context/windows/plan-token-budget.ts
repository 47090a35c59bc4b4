/**
 * Plans which items are shortened and dropped so that a conversation fits its model. Outputs of finished
 * rounds are shortened first, then the oldest rounds are dropped. Outputs of a round that would not fit even
 * alone are capped.
 *
 * The plan depends only on the list. It replays how the list grew, item by item: an item that did not fit
 * at some point stays dropped, even when the round that displaced it is over. So every replica with the
 * same list drops the same items.
 *
 * Cuts move in steps: to the round at which the total weight before it passes a multiple of a power of
 * two, e.g. of 8192. The weight of an item never changes (`token-budget-weights.ts`), so these positions
 * stay the same.
 *
 * Policies count rounds as turns: `keepTurns` is a number of rounds.
 */
import type { Item } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import type { KeepPredicate } from '../find-undroppable-items.ts'
import { countOldRounds } from '../tool-outputs/shorten-old-outputs.ts'
import {
  computeBudgetWeights,
  type ItemReductions,
  type TokenBudgetWeights,
} from './token-budget-weights.ts'

export interface TokenBudgetOptions extends ItemReductions {
  /** The maximum total weight, in tokens. At least 1. */
  readonly maxTokens: number
  /** `outputs.keep_turns` of the policy; `null` if the policy shortens no outputs. */
  readonly keepTurns: number | null
  readonly step: number
  /** The maximum number of images from before the latest round. */
  readonly images: number
}

export interface TokenBudgetPlan {
  /** Items before this index are dropped, unless they are always sent. */
  readonly dropBefore: number
  /** Outputs before this index are shortened. */
  readonly shortenBefore: number
  /** For each index, 1 if an output at that index is capped. */
  readonly capped: Uint8Array
}

export function planTokenBudget(
  items: readonly Item[],
  stays: KeepPredicate,
  options: TokenBudgetOptions,
): TokenBudgetPlan {
  const starts = findRoundStarts(items)
  const roundStarts = starts[0] === 0 ? starts : [0, ...starts]
  const weights = computeBudgetWeights(items, stays, options)
  const replay = createReplay(weights, options, starts[0] === 0 ? 0 : 1)
  for (const [round, start] of roundStarts.entries()) {
    const end = roundStarts[round + 1] ?? items.length
    replay.beginRound()
    for (let length = start + 1; length <= end; length += 1) replay.growTo(length)
    replay.endRound(end)
  }
  return replay.plan()
}

/**
 * Tracks which rounds were dropped and shortened while the list grew. Rounds are numbered from 0; the items before
 * the first question, if any, are round 0 (`preamble` is then 1).
 */
function createReplay(weights: TokenBudgetWeights, options: TokenBudgetOptions, preamble: number) {
  const { maxTokens, images, keepTurns, step } = options
  const rounds: RoundStart[] = []
  const capped = new Uint8Array(weights.open.length)
  let current: RoundStart = { start: 0, open: 0, settled: 0, images: 0 }
  /** The first round that is sent. */
  let cut = 0
  /** The first round with full outputs, once shortening has begun. */
  let shortenedRounds = 0
  let isCapping = false
  let isShortening = false

  const roundAt = (round: number): RoundStart => rounds[round] ?? current
  const weightSinceStart = (sums: Float64Array, length: number) =>
    (sums[length] ?? 0) - (sums[current.start] ?? 0)
  /** Weight of the current round (capped if needed) plus all items that are always sent. */
  const weighCurrentRound = (length: number) =>
    (weights.alwaysSent[length] ?? 0) +
    weightSinceStart(isCapping ? weights.capped : weights.open, length) +
    (images === 0 ? 0 : weightSinceStart(weights.images, length) * IMAGE_TOKENS)
  /** The weight of the rounds from `from` up to the current one. */
  const weighEarlierRounds = (from: number, shortenedTo: number): number => {
    const first = roundAt(from)
    const visibleImages = Math.min(current.images - first.images, images)
    const middle = roundAt(Math.max(from, shortenedTo))
    const text = middle.settled - first.settled + current.open - middle.open
    return text + visibleImages * IMAGE_TOKENS
  }
  const fits = (from: number, length: number) =>
    weighCurrentRound(length) + weighEarlierRounds(from, shortenedRounds) <= maxTokens

  return {
    beginRound(): void {
      rounds.push(current)
      isCapping = false
      const stepTokens = roundDownToPowerOfTwo(maxTokens / 8)
      if (passesStep(roundAt(shortenedRounds).open, current.open, stepTokens)) {
        shortenedRounds = rounds.length - 1
      }
    },
    growTo(length: number): void {
      if (!isCapping && weighCurrentRound(length) > maxTokens) isCapping = true
      // Until the limit is exceeded, only the policy shortens outputs.
      const questionRounds = rounds.length - preamble
      const old = keepTurns === null ? 0 : countOldRounds(questionRounds, keepTurns, step)
      const usual = old > 0 ? preamble + old : 0
      isShortening ||= weighCurrentRound(length) + weighEarlierRounds(0, usual) > maxTokens
      if (!isShortening || fits(cut, length)) return
      const widestStep = roundDownToPowerOfTwo(maxTokens / 4)
      cut = findNextCut(rounds, cut, (round) => fits(round, length), widestStep)
    },
    endRound(end: number): void {
      if (isCapping) capped.fill(1, current.start, end)
      current = {
        start: end,
        open: current.open + weightSinceStart(isCapping ? weights.capped : weights.open, end),
        settled:
          current.settled + weightSinceStart(isCapping ? weights.capped : weights.settled, end),
        images: weights.images[end] ?? 0,
      }
    },
    plan(): TokenBudgetPlan {
      if (!isShortening) return { dropBefore: 0, shortenBefore: 0, capped }
      return {
        dropBefore: roundAt(cut).start,
        shortenBefore: roundAt(shortenedRounds).start,
        capped,
      }
    },
  }
}

/** The index at which a round starts, and the weights of all items before it. */
interface RoundStart {
  readonly start: number
  readonly open: number
  readonly settled: number
  readonly images: number
}

/**
 * Tries cuts at multiples of the widest step, then of half of it, and so on. Returns the first round to
 * send for which `isEnough` holds, or the latest round if there is none.
 */
function findNextCut(
  rounds: readonly RoundStart[],
  cut: number,
  isEnough: (round: number) => boolean,
  widestStep: number,
): number {
  const latest = rounds.length - 1
  for (let step = widestStep; step >= 1; step /= 2) {
    let from = rounds[cut]?.settled ?? 0
    for (let round = cut + 1; round < latest; round += 1) {
      const { settled } = rounds[round] as RoundStart
      if (!passesStep(from, settled, step)) continue
      if (isEnough(round)) return round
      from = settled
    }
  }
  return latest
}

function passesStep(before: number, after: number, step: number): boolean {
  return Math.floor(after / step) > Math.floor(before / step)
}

/** Rounds down, e.g. 10000 → 8192, so that a slightly different limit rarely changes the steps. */
function roundDownToPowerOfTwo(tokens: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(tokens)))
}
