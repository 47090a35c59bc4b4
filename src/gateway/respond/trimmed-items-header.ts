/**
 * What of a conversation a window has left out, in a line for a header: how many items, about how many
 * tokens, and which windows. `null` where nothing was left out.
 */
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'

export function formatTrimmedHeader({
  notes,
  items,
}: Pick<PreparedRequest, 'notes' | 'items'>): string | null {
  let count = 0
  let tokens = 0
  const windows = new Set<string>()
  for (const { why, at, by } of notes) {
    if (why !== 'windowed' && why !== 'over-window') continue
    const item = at === undefined ? undefined : items[at]
    count += 1
    tokens += item === undefined ? 0 : estimateItemTokens(item)
    if (by !== undefined) windows.add(by)
  }
  return count === 0 ? null : `items=${count}, tokens=${tokens}, by=${[...windows].join('+')}`
}
