/**
 * Keeps the latest complete rounds that fit a window of items, turns (as policies call rounds) or tokens, and drops
 * older rounds.
 *
 * The cut moves in steps of half a window, counted from the beginning of the conversation: a window of 20 turns keeps
 * 11 to 20 rounds. A cut that moved with each item would change the prompt's prefix each time. That would invalidate
 * the provider's cache and the reasoning that is sent back. The weight of an item never changes, so a cut never moves
 * back.
 *
 * If two of these rules conflict, here or in `trim-long-rounds.ts`, the first one applies:
 *  1. leading instructions, pinned items and the latest question are sent complete, under any window;
 *  2. a call and its output, or reasoning and the item after it, are never separated;
 *  3. the latest assistant message is sent, if there is one (not with a window of turns, because a window of one
 *     turn is the current round alone);
 *  4. at most four windows are sent (`trim-long-rounds.ts` drops parts of a round for that; not with a window of turns);
 *  5. a round is sent complete, including a running tool loop;
 *  6. at most one window is sent.
 */
import type { Item } from '../../core/item.ts'
import { isAssistantMessage, findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { filterItems } from '../edit-items.ts'
import { createAlwaysSentGroupPredicate } from '../always-sent-items.ts'
import { computePrefixSums, WEIGHING_FUNCTIONS } from './item-weights.ts'
import type { Transform } from '../transform-interface.ts'

export interface HistoryWindow {
  readonly unit: keyof typeof WEIGHING_FUNCTIONS
  /** The size of the window in this unit, e.g. 40 turns. At least 1. */
  readonly maxWeight: number
}

export function keepRecentRounds({ unit, maxWeight }: HistoryWindow): Transform {
  const weigh = WEIGHING_FUNCTIONS[unit]
  const step = Math.ceil(maxWeight / 2)
  return {
    name: `window-${unit}`,
    prefixChanges: 'permanent',
    run(items) {
      const stays = createAlwaysSentGroupPredicate(items)
      const weightBefore = computePrefixSums(weigh(items, stays))
      const excess = (weightBefore.at(-1) ?? 0) - maxWeight
      if (excess <= 0) return { items, notes: [] }
      const starts = findRoundStarts(items)
      const dropped = Math.ceil(excess / step) * step
      // The latest round always stays. A list without any question has no rounds, so nothing is dropped.
      const enough =
        starts.find((start) => (weightBefore[start] ?? 0) >= dropped) ?? starts.at(-1) ?? 0
      const cut = unit === 'turns' ? enough : moveBeforeAnswer(items, starts, enough)
      return filterItems(items, (index, item) => index >= cut || stays(index, item), 'windowed')
    },
  }
}

/**
 * Returns the index before which rounds are dropped. It is `cut`, unless the latest answer comes before it: then it is
 * the start of that answer's round, so that the answer stays.
 */
function moveBeforeAnswer(items: readonly Item[], starts: readonly number[], cut: number): number {
  const answer = findLatestAnswer(items, starts.at(-1) ?? 0)
  if (answer < 0 || answer >= cut) return cut
  return starts.findLast((start) => start <= answer) ?? 0
}

/**
 * Returns the index of the latest assistant message, or -1. While tools run, messages of the current round do not
 * count: otherwise text between tool calls would move the cut in the middle of the round.
 */
function findLatestAnswer(items: readonly Item[], latestRound: number): number {
  const isOpen = !isAssistantMessage(items.at(-1))
  return (isOpen ? items.slice(0, latestRound) : items).findLastIndex(isAssistantMessage)
}
