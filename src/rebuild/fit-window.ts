/**
 * Makes a conversation fit a model's window: whole rounds are left out, the oldest first. The
 * instructions at the head, pinned items and the newest round stay, whether they fit or not.
 *
 * The cut moves in steps of a quarter of the window, counted in tokens from the beginning of the
 * conversation, so that the prefix stays the same from one question to the next.
 */
import type { Item } from '../conversation/item.ts'
import { headLength, isPinned, roundStarts } from '../conversation/rounds.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import { keepWhere } from './keep-where.ts'
import type { Transform } from './transform.ts'

/** `maxTokens` is what all items together may be worth. */
export function fitWindow({ maxTokens }: { readonly maxTokens: number }): Transform {
  const stride = Math.max(1, Math.floor(maxTokens / 4))
  return {
    name: 'fit-window',
    run(items) {
      const tokens = items.map((item) => estimateTokens(item))
      const head = headLength(items)
      const stays = (at: number, item: Item) => at < head || isPinned(item)
      const excess = sum(tokens) - maxTokens
      if (excess <= 0) return { items, notes: [] }
      const target = Math.ceil(excess / stride) * stride
      const cut = cutAt(items, target, (at, item) => (stays(at, item) ? 0 : (tokens[at] ?? 0)))
      return keepWhere(items, (at, item) => at >= cut || stays(at, item), 'over-window')
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The first round in front of which there is enough to leave out, or else the newest. */
function cutAt(
  items: readonly Item[],
  target: number,
  weightOf: (at: number, item: Item) => number,
): number {
  const starts = new Set(roundStarts(items))
  let newest = 0
  let before = 0
  for (const [at, item] of items.entries()) {
    if (starts.has(at)) {
      newest = at
      if (before >= target) return at
    }
    before += weightOf(at, item)
  }
  return newest
}
