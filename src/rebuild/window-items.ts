/**
 * Keeps the newest `maxItems` items and drops older rounds, whole ones only. Instructions at the
 * head and pinned items stay and do not count.
 *
 * The cut moves in steps of half a window, counted from the beginning of the conversation. A cut
 * that moved with every item would change the prompt's prefix each time, and a provider's cache and
 * its preserved reasoning with it.
 *
 * What wins over what, here and in `boundItems`:
 *  1. the head, pinned items and the newest question are sent, whole, under any cap;
 *  2. a call and its output, or reasoning and what follows it, are never parted;
 *  3. the newest message of the assistant is sent, if there is one;
 *  4. at most four windows are sent (`boundItems`, which thins within a round for that);
 *  5. a round is sent whole, so the running tool loop too;
 *  6. at most one window is sent.
 */
import type { Item } from '../conversation/item.ts'
import { headLength, isAssistantMessage, isPinned, roundStarts } from '../conversation/rounds.ts'
import { keepWhere } from './keep-where.ts'
import type { Transform } from './transform.ts'

/** `maxItems` is at least 1. */
export function windowItems({ maxItems }: { readonly maxItems: number }): Transform {
  const stride = Math.ceil(maxItems / 2)
  return {
    name: 'window-items',
    run(items) {
      const head = headLength(items)
      const excess = items.length - head - maxItems
      if (excess <= 0) return { items, notes: [] }
      const cut = cutAt(items, head, head + Math.ceil(excess / stride) * stride)
      return keepWhere(items, (at, item) => at < head || at >= cut || isPinned(item), 'windowed')
    },
  }
}

/** Forward to a round, so that the cap is kept; never behind the newest question. */
function cutAt(items: readonly Item[], head: number, target: number): number {
  const starts = roundStarts(items)
  const newest = starts.at(-1)
  // Without any question there is nothing to cut between.
  if (newest === undefined) return head
  const cut = starts.find((start) => start >= target) ?? newest
  const answer = newestAnswer(items, newest)
  if (answer === null || answer >= cut) return cut
  return starts.findLast((start) => start <= answer) ?? head
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
