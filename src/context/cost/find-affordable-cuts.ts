/**
 * Decides which items of finished rounds are cut, i.e. shortened or dropped, so that a conversation of any length costs
 * at most a little more than full replay, i.e. than sending everything.
 *
 * A provider charges little for the part of a request that it has in its cache. A cut changes the prompt at that place,
 * so the provider must read everything after it again. If a tool output is cut directly after its round, little comes
 * after it. If it is cut twenty rounds later, the provider reads twenty rounds again, which costs more than the cut
 * saves at today's prices, unless the conversation becomes very long.
 *
 * The function goes through all requests of the conversation and adds up two costs: that with cuts and that of full
 * replay. At the beginning of a round, items may be cut under three conditions:
 * - All requests so far, including this one, cost at most `maxCostRatio` times as much as full replay, at each of the
 *   prices in `PRICES`. Later requests cannot exceed this limit: without another cut, each of them is smaller than with
 *   full replay.
 * - The cut pays off within as many further requests as there were before.
 * - The items before the round still have `minChars` after the cut, because providers do not cache short prompts: a
 *   prompt that is not cached can cost more than a longer one that is.
 *
 * Each decision depends only on the items before its round, so later requests and other replicas decide the same. An
 * item that could not be cut at first is tried again each time that the conversation has become a quarter longer, so
 * that the time is linear in the number of items.
 */
import type { Item } from '../../core/item.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { computePrefixSums, weightBetween } from '../windows/item-weights.ts'

export interface AffordableCutOptions {
  /** The size of each item in characters if it is not cut. */
  readonly completeChars: readonly number[]
  /** The size of each item in characters if it is cut; 0 if it is dropped. */
  readonly cutChars: readonly number[]
  /** The round, counted from 0, from whose beginning on the item may be cut; `null` if it is never cut. */
  readonly cuttableSince: readonly (number | null)[]
  /** The highest permitted cost of all requests so far relative to full replay, e.g. 1.03. */
  readonly maxCostRatio: number
  /** The number of characters of the conversation that a cut must leave. */
  readonly minChars: number
}

/**
 * Two pairs of prices: of new input, which the provider also writes to its cache, and of input that it reads from its
 * cache. The cost relative to full replay depends on the quotient of both prices, so for all prices between 1 and 1.25
 * for new and between 0.1 and 0.5 for cached input, it is highest with one of these pairs.
 */
const PRICES = [
  { written: 1.25, cached: 0.1 },
  { written: 1, cached: 0.5 },
] as const

/** Items that could not be cut are tried again when the conversation has this many times as many rounds. */
const REVIEW_GROWTH = 1.25

/** Returns the value 1 at the index of each item that is cut. */
export function findAffordableCuts(
  items: readonly Item[],
  options: AffordableCutOptions,
): Uint8Array {
  const starts = findRoundStarts(items)
  const replay = createCostReplay(options)
  const firstCuttable = findFirstCuttable(options, starts.length)
  let nextReview = 1
  for (const [round, start] of starts.entries()) {
    const from = firstCuttable[round]
    if (from !== undefined) {
      const isReview = round >= nextReview
      if (isReview) nextReview = Math.ceil(round * REVIEW_GROWTH)
      replay.beginRound(round, start, isReview ? 0 : from)
    }
    const next = starts[round + 1] ?? items.length
    for (let index = start + 1; index < next; index += 1) {
      if (beginsAnswer(items[index - 1], items[index])) replay.addRequest(index)
    }
  }
  return replay.isCut
}

/** Returns for each round the index of the first item that may be cut since that round, if there is one. */
function findFirstCuttable(
  { cuttableSince }: AffordableCutOptions,
  rounds: number,
): readonly (number | undefined)[] {
  const first = Array.from<number | undefined>({ length: rounds })
  for (const [index, round] of cuttableSince.entries()) {
    if (round !== null) first[round] ??= index
  }
  return first
}

/** True if a request ended before `item`: the model wrote `item`, but not the item before it. */
function beginsAnswer(before: Item | undefined, item: Item | undefined): boolean {
  if (before === undefined || item === undefined) return false
  return isItemOfAnswer(item) && !isItemOfAnswer(before)
}

/** A possible cut: all items from the index `from` on that may be cut. */
interface PossibleCut {
  readonly from: number
  /** The characters that are removed from items which the previous request contained. */
  readonly removedSent: number
  /** The characters that are removed from items which no request has contained. */
  readonly removedNew: number
  /** The characters that the provider had in its cache and must read again: those after the cut, or all. */
  readonly reread: number
}

function createCostReplay(options: AffordableCutOptions) {
  const { completeChars, cutChars, cuttableSince, maxCostRatio, minChars } = options
  const complete = computePrefixSums(completeChars)
  const isCut = new Uint8Array(completeChars.length)
  /** Characters of all requests so far: those that the provider read as new input, and those from its cache. */
  const sums = { written: 0, cached: 0, replayWritten: 0, replayCached: 0 }
  let requests = 0
  /** The end of the latest request, and the characters of its items as they are sent now. */
  let sentEnd = 0
  let sentChars = 0
  /** The part of `sentChars` that the provider must read again in the next request, because a cut changed the prompt. */
  let reread = 0

  const charsOf = (index: number): number =>
    (isCut[index] === 1 ? cutChars[index] : completeChars[index]) ?? 0
  const removableChars = (index: number, round: number): number => {
    const since = cuttableSince[index] ?? null
    if (since === null || since > round || isCut[index] === 1) return 0
    return Math.max(0, (completeChars[index] ?? 0) - (cutChars[index] ?? 0))
  }
  const listPossibleCuts = (round: number, start: number, from: number): readonly PossibleCut[] => {
    const possible: PossibleCut[] = []
    let [removedSent, removedNew, after] = [0, 0, 0]
    for (let index = start - 1; index >= from; index -= 1) {
      const removed = removableChars(index, round)
      if (index < sentEnd) {
        removedSent += removed
        after += charsOf(index) - removed
      } else removedNew += removed
      if (removed === 0) continue
      const before = sentChars - removedSent - after
      // If the part before the cut is too short to be cached, the provider reads the complete prompt again.
      const reread = before < minChars ? before + after : after
      possible.push({ from: index, removedSent, removedNew, reread })
    }
    return possible
  }
  const leavesEnough = ({ removedSent, removedNew }: PossibleCut, start: number): boolean =>
    sentChars + weightBetween(complete, sentEnd, start) - removedSent - removedNew >= minChars
  const isAffordable = (cut: PossibleCut, start: number): boolean => {
    const added = weightBetween(complete, sentEnd, start)
    const rereadChars = Math.max(reread, cut.reread)
    const kept = sentChars - cut.removedSent - rereadChars
    return PRICES.every(({ written, cached }) => {
      const cost =
        written * (sums.written + added - cut.removedNew + rereadChars) +
        cached * (sums.cached + kept)
      const replayCost =
        written * (sums.replayWritten + added) +
        cached * (sums.replayCached + (complete[sentEnd] ?? 0))
      return cost <= maxCostRatio * replayCost
    })
  }

  return {
    isCut,
    /** Decides at the beginning of a round, before index `start`, which items from index `from` on are cut. */
    beginRound(round: number, start: number, from: number): void {
      let best: PossibleCut | null = null
      let bestSaving = 0
      for (const cut of listPossibleCuts(round, start, from)) {
        const saving = computeSaving(cut, requests)
        if (saving <= bestSaving || !leavesEnough(cut, start) || !isAffordable(cut, start)) continue
        best = cut
        bestSaving = saving
      }
      if (best === null) return
      for (let index = best.from; index < start; index += 1) {
        if (removableChars(index, round) > 0) isCut[index] = 1
      }
      sentChars -= best.removedSent
      reread = Math.max(reread, best.reread)
    },
    /** Adds the cost of the request that contained all items before index `end`. */
    addRequest(end: number): void {
      let added = 0
      for (let index = sentEnd; index < end; index += 1) added += charsOf(index)
      sums.written += added + reread
      sums.cached += sentChars - reread
      sums.replayWritten += weightBetween(complete, sentEnd, end)
      sums.replayCached += complete[sentEnd] ?? 0
      sentChars += added
      sentEnd = end
      reread = 0
      requests += 1
    },
  }
}

/**
 * Returns how much a cut saves in this request and in as many further ones as there were before, at the prices at which
 * it saves least. Negative if it costs more than it saves.
 */
function computeSaving({ removedSent, removedNew, reread }: PossibleCut, requests: number): number {
  const [{ written, cached }] = PRICES
  const saved = removedSent * cached + removedNew * written
  return saved - reread * (written - cached) + requests * (removedSent + removedNew) * cached
}
