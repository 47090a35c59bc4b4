/**
 * What of a conversation a window has left out, in a line for a header: how many items, about how many
 * tokens, and which windows. `null` where nothing was left out.
 */
import { itemTokens } from '../../core/items/item-tokens.ts'
import type { Prepared } from '../prompt/prepare-request.ts'

export function trimmed({ notes, items }: Pick<Prepared, 'notes' | 'items'>): string | null {
  let count = 0
  let tokens = 0
  const windows = new Set<string>()
  for (const { why, at, by } of notes) {
    if (why !== 'windowed' && why !== 'over-window') continue
    const item = at === undefined ? undefined : items[at]
    count += 1
    tokens += item === undefined ? 0 : itemTokens(item)
    if (by !== undefined) windows.add(by)
  }
  return count === 0 ? null : `items=${count}, tokens=${tokens}, by=${[...windows].join('+')}`
}
