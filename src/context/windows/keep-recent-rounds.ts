/**
 * Keeps the latest complete rounds that fit a window of items, turns or tokens, and drops older ones. Policies
 * count rounds as turns.
 *
 * The cut moves in steps of half a window, counted from the beginning of the conversation: a window of 20
 * turns keeps 11 to 20. A cut that moved with every item would change the prompt's prefix each time, and
 * with it invalidate the provider's cache and preserved reasoning. The weight of an item never changes, so
 * a cut never moves back.
 *
 * Order of precedence, here and in `trimLongRounds`:
 *  1. the head, pinned items and the latest question are sent complete, under any window;
 *  2. a call and its output, or reasoning and the item after it, are never separated;
 *  3. the latest assistant message is sent, if there is one (for items and tokens only: a window of one
 *     turn is the current round alone);
 *  4. at most four windows are sent (`trimLongRounds` drops parts of a round for that);
 *  5. a round is sent complete, including the running tool loop;
 *  6. at most one window is sent.
 */
import type { Item } from '../../core/item.ts'
import { isAssistantMessage, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { filterItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../find-undroppable-items.ts'
import { computePrefixSums, ITEM_WEIGHTS } from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface HistoryWindow {
  readonly by: keyof typeof ITEM_WEIGHTS
  /** The maximum weight, e.g. 40 turns. At least 1. */
  readonly maxWeight: number
}

export function keepRecentRounds({ by, maxWeight }: HistoryWindow): Transform {
  const weigh = ITEM_WEIGHTS[by]
  const step = Math.ceil(maxWeight / 2)
  return {
    name: `window-${by}`,
    prefixStability: 'lasting',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const weightBefore = computePrefixSums(weigh(items, stays))
      const excess = (weightBefore.at(-1) ?? 0) - maxWeight
      if (excess <= 0) return { items, notes: [] }
      const starts = findRoundStarts(items)
      const dropped = Math.ceil(excess / step) * step
      // The latest round stays; without any question there is no place to cut.
      const enough =
        starts.find((start) => (weightBefore[start] ?? 0) >= dropped) ?? starts.at(-1) ?? 0
      const cut = by === 'turns' ? enough : moveBeforeAnswer(items, starts, enough)
      return filterItems(items, (index, item) => index >= cut || stays(index, item), 'windowed')
    },
  }
}

/** Moves the cut back to the round of the latest answer, if the cut would drop that answer. */
function moveBeforeAnswer(items: readonly Item[], starts: readonly number[], cut: number): number {
  const answer = findLatestAnswer(items, starts.at(-1) ?? 0)
  if (answer < 0 || answer >= cut) return cut
  return starts.findLast((start) => start <= answer) ?? 0
}

/**
 * Ignores text between tool calls while the latest round is open: otherwise the cut would move in the
 * middle of the round, as soon as the model writes its first text.
 */
function findLatestAnswer(items: readonly Item[], latestRound: number): number {
  const isOpen = !isAssistantMessage(items.at(-1))
  return (isOpen ? items.slice(0, latestRound) : items).findLastIndex(isAssistantMessage)
}
