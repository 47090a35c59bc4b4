/**
 * Keeps the newest rounds of a conversation, as many as a window has room for, and drops the older
 * ones, whole. A window is so many items, turns or tokens.
 *
 * The cut moves in steps of half a window, counted from the beginning of the conversation. A cut that moved with every item would change the
 * prompt's prefix each time, and a provider's cache and its preserved reasoning with it. What
 * is said weighs what it weighed when it was said, so that a cut never goes back.
 *
 * What wins over what, here and in `trimLongRounds`:
 *  1. the head, pinned items and the newest question are sent, whole, under any cap;
 *  2. a call and its output, or reasoning and what follows it, are never parted;
 *  3. the newest message of the assistant is sent, if there is one (where items or tokens are
 *     counted: one turn is the running turn alone);
 *  4. at most four windows are sent (`trimLongRounds`, which thins within a round for that);
 *  5. a round is sent whole, so the running tool loop too;
 *  6. at most one window is sent.
 */
import type { Item } from '../../core/item.ts'
import { isAssistantMessage, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { filterItems } from '../filter-items.ts'
import { createAlwaysSentGroupPredicate, ITEM_WEIGHTS, sumWeights } from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface HistoryWindow {
  readonly by: keyof typeof ITEM_WEIGHTS
  /** At least 1. */
  readonly most: number
}

export function keepRecentRounds({ by, most }: HistoryWindow): Transform {
  const weigh = ITEM_WEIGHTS[by]
  const stride = Math.ceil(most / 2)
  return {
    name: `window-${by}`,
    prefixStability: 'lasting',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const weights = weigh(items, stays)
      const excess = sumWeights(weights) - most
      if (excess <= 0) return { items, notes: [] }
      const starts = findRoundStarts(items)
      const enough = cutAt(starts, weights, Math.ceil(excess / stride) * stride)
      const cut = by === 'turns' ? enough : withAnswer(items, starts, enough)
      return filterItems(items, (at, item) => at >= cut || stays(at, item), 'windowed')
    },
  }
}

/** The first round that has enough in front of it to leave out, or else the newest. */
function cutAt(starts: readonly number[], weights: readonly number[], target: number): number {
  let before = 0
  let at = 0
  for (const start of starts) {
    for (; at < start; at += 1) before += weights[at] ?? 0
    if (before >= target) return start
  }
  // Without any question there is nothing to cut between.
  return starts.at(-1) ?? 0
}

/** Back to the round of the newest answer, if that would be left out. */
function withAnswer(items: readonly Item[], starts: readonly number[], cut: number): number {
  const answer = newestAnswer(items, starts.at(-1) ?? 0)
  if (answer === null || answer >= cut) return cut
  return starts.findLast((start) => start <= answer) ?? 0
}

/**
 * While the newest round is open, what the model remarks between its tool calls does not count: the
 * cut would move in the middle of the round as soon as it makes the first remark.
 */
function newestAnswer(items: readonly Item[], newestRound: number): number | null {
  const isOpen = !isAssistantMessage(items.at(-1))
  const end = isOpen ? newestRound : items.length
  for (let at = end - 1; at >= 0; at -= 1) if (isAssistantMessage(items[at])) return at
  return null
}
