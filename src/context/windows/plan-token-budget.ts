/**
 * What of a conversation is shortened and left out so that the rest fits its model: outputs of turns
 * that are over first, then the oldest turns; and outputs of a turn that would not even fit alone are
 * cut hard.
 *
 * It is told from the list alone, by going through it as it has grown, place by place: what had to go
 * at some place is gone from there on. So a turn that was once left out stays so, also when the turn
 * is over that had no room for it, and whoever has the same list leaves out the same.
 *
 * It goes in steps: turns go up to where the weight in front of them, counted from the beginning,
 * passes a multiple of a power of two, and outputs are shortened up to such a place. What is counted
 * is what an item weighs by itself (`token-budget-weights.ts`), so that these places do not move.
 */
import type { Item } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import type { KeepPredicate } from '../find-undroppable-items.ts'
import {
  computeBudgetWeights,
  type ItemReductions,
  type TokenBudgetWeights,
} from './token-budget-weights.ts'

export interface TokenBudgetOptions extends ItemReductions {
  /** Tokens, at least 1. */
  readonly most: number
  /** What is shortened anyway: behind so many turns, in such steps. `null` if nothing is. */
  readonly keepTurns: number | null
  readonly step: number
  /** At most so many images are shown that are older than the newest turn. */
  readonly images: number
}

/** By places in the list. */
export interface TokenBudgetPlan {
  /** What is in front of it is left out, but for what stays. */
  readonly cut: number
  /** Outputs in front of it are shortened. */
  readonly shortened: number
  /** Of each place, whether outputs are cut hard there. */
  readonly hard: Uint8Array
}

export function planTokenBudget(
  items: readonly Item[],
  stays: KeepPredicate,
  room: TokenBudgetOptions,
): TokenBudgetPlan {
  const starts = findRoundStarts(items)
  const begins = starts[0] === 0 ? starts : [0, ...starts]
  const weights = computeBudgetWeights(items, stays, room)
  const fold = openFold(weights, room, starts[0] === 0 ? 0 : 1)
  for (const [turn, start] of begins.entries()) {
    const end = begins[turn + 1] ?? items.length
    fold.begin()
    for (let at = start + 1; at <= end; at += 1) fold.reach(at)
    fold.end(end)
  }
  return fold.plan()
}

/** What had to go so far. Turns are told by their number; what stands before the first one is one, too. */
function openFold(weights: TokenBudgetWeights, room: TokenBudgetOptions, preamble: number) {
  const { most, images } = room
  /** Of each turn, where it begins, and what is in front of it. */
  const turns: Turn[] = []
  const hard = new Uint8Array(weights.open.length)
  let now: Turn = { start: 0, open: 0, settled: 0, images: 0 }
  let cut = 0
  let border = 0
  let isHard = false
  let isShortening = false

  const since = (sums: Float64Array, at: number) => (sums[at] ?? 0) - (sums[now.start] ?? 0)
  const turnAt = (turn: number): Turn => turns[turn] ?? now
  /** What the running turn and all that is sent in any case come to. */
  const fixed = (at: number) =>
    (weights.stays[at] ?? 0) +
    since(isHard ? weights.hard : weights.open, at) +
    (images === 0 ? 0 : since(weights.images, at) * IMAGE_TOKENS)
  /** What the turns before it come to, if those in front of `from` are left out. */
  const before = (from: number, shortenedTo: number): number => {
    const first = turnAt(from)
    const shown = Math.min(now.images - first.images, images) * IMAGE_TOKENS
    const middle = turnAt(Math.max(from, shortenedTo))
    return middle.settled - first.settled + now.open - middle.open + shown
  }
  const fits = (from: number, at: number) => fixed(at) + before(from, border) <= most

  return {
    begin(): void {
      turns.push(now)
      isHard = false
      if (isAStep(turnAt(border).open, now.open, stepBelow(most / 8))) border = turns.length - 1
    },
    reach(at: number): void {
      if (!isHard && fixed(at) > most) isHard = true
      const usual = usualBorder(turns.length - 1, preamble, room)
      isShortening ||= fixed(at) + before(0, usual) > most
      if (!isShortening || fits(cut, at)) return
      cut = nextCut(turns, cut, (turn) => fits(turn, at), stepBelow(most / 4))
    },
    end(end: number): void {
      if (isHard) hard.fill(1, now.start, end)
      now = {
        start: end,
        open: now.open + since(isHard ? weights.hard : weights.open, end),
        settled: now.settled + since(isHard ? weights.hard : weights.settled, end),
        images: weights.images[end] ?? 0,
      }
    },
    plan(): TokenBudgetPlan {
      if (!isShortening) return { cut: 0, shortened: 0, hard }
      return { cut: turnAt(cut).start, shortened: turnAt(border).start, hard }
    },
  }
}

/** Up to which turn outputs are shortened as long as everything fits. */
function usualBorder(
  newest: number,
  preamble: number,
  { keepTurns, step }: TokenBudgetOptions,
): number {
  if (keepTurns === null) return 0
  const over = Math.floor((newest - preamble - keepTurns) / step) * step
  return over > 0 ? preamble + over : 0
}

interface Turn {
  readonly start: number
  readonly open: number
  readonly settled: number
  readonly images: number
}

/** In the widest steps that lead to a turn that is enough; the newest turn, if none is. */
function nextCut(
  turns: readonly Turn[],
  cut: number,
  isEnough: (turn: number) => boolean,
  widest: number,
): number {
  const newest = turns.length - 1
  for (let stride = widest; stride >= 1; stride /= 2) {
    let from = turns[cut]?.settled ?? 0
    for (let turn = cut + 1; turn < newest; turn += 1) {
      const { settled } = turns[turn] as Turn
      if (!isAStep(from, settled, stride)) continue
      if (isEnough(turn)) return turn
      from = settled
    }
  }
  return newest
}

function isAStep(before: number, after: number, stride: number): boolean {
  return Math.floor(after / stride) > Math.floor(before / stride)
}

/** A power of two, so that a little more room or less seldom means other steps. */
function stepBelow(tokens: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(tokens)))
}
