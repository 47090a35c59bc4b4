/**
 * Formats the header `x-backstory-trimmed`: how much of the conversation the windows of the policy and the cut to
 * the context window dropped from the prompt, e.g. `items=4, tokens=120, by=window-turns`.
 */
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'

/** Returns the value of `x-backstory-trimmed`; null if neither a window nor the cut dropped an item. */
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
