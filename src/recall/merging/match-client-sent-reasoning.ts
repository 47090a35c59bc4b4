/** Which recorded reasoning a client has brought along itself: the very object, its id, or sealed the same. */
import type { Item } from '../../core/item.ts'
import { listReasoningKeys } from '../compare-items.ts'

/** Finds one of the thoughts; the first, if several are the same. */
export function createReasoningFinder(
  reasoningItems: readonly Item[],
): (item: Item) => Item | null {
  if (reasoningItems.length === 0) return () => null
  const identicalItems = new Set(reasoningItems)
  const itemByKey = new Map<string, Item>()
  for (const item of reasoningItems) {
    for (const key of listReasoningKeys(item)) if (!itemByKey.has(key)) itemByKey.set(key, item)
  }
  return (item) => {
    if (identicalItems.has(item)) return item
    for (const key of listReasoningKeys(item)) {
      const found = itemByKey.get(key)
      if (found !== undefined) return found
    }
    return null
  }
}
