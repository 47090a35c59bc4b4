/**
 * Finds recorded reasoning that the client sends itself: the same object, the same id, or the same
 * encrypted content.
 */
import type { Item } from '../../core/item.ts'
import { listReasoningKeys } from '../compare-items.ts'

/** Returns a function that finds the first equal reasoning item of the list. */
export function createReasoningFinder(items: readonly Item[]): (item: Item) => Item | null {
  if (items.length === 0) return () => null
  const identicalItems = new Set(items)
  const itemByKey = new Map<string, Item>()
  for (const item of items) {
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
