/**
 * Tracks which of the client's items in an answer match no recorded item yet. If several client
 * items have the same key, they are matched in the client's order.
 */
import type { Item, Reasoning } from '../../core/item.ts'
import { appendToGroup } from '../map-and-list-helpers.ts'
import { listHostedItemKeys, listReasoningKeys } from '../compare-items.ts'
import { readToolCallKey } from '../find-recorded-tool-outputs.ts'

export interface UnmatchedClientItems {
  readonly remove: (item: Item) => void
  /**
   * Removes and returns the client's first unmatched item that has one of the keys, e.g. `function
   * call_1` for a tool call; `null` if there is none.
   */
  readonly takeFirst: (keys: readonly string[]) => Item | null
  readonly listRemaining: () => Iterable<Item>
}

export function trackUnmatchedClientItems(items: readonly Item[]): UnmatchedClientItems {
  const unmatched = new Set(items)
  // The items of each key are stored in reverse order, so that `pop` returns the client's first
  // one.
  const itemsByKey = new Map<string, Item[]>()
  for (const item of items.toReversed())
    for (const key of listItemKeys(item)) appendToGroup(itemsByKey, key, item)
  return {
    remove: (item) => void unmatched.delete(item),
    takeFirst(keys) {
      for (const key of keys) {
        const candidates = itemsByKey.get(key) ?? []
        for (let item = candidates.pop(); item !== undefined; item = candidates.pop())
          if (unmatched.delete(item)) return item
      }
      return null
    },
    listRemaining: () => unmatched,
  }
}

function listItemKeys(item: Item): readonly string[] {
  const callKey = readToolCallKey(item, 'call')
  return callKey === null ? listHostedItemKeys(item) : [callKey, ...listHostedItemKeys(item)]
}

/**
 * Returns a function that finds a reasoning item again in `items`: the same object, or an item with
 * the same id or encrypted content; `null` if there is none.
 */
export function createReasoningFinder(
  items: readonly Reasoning[],
): (item: Item) => Reasoning | null {
  if (items.length === 0) return () => null
  const identicalItems = new Set<Item>(items)
  const itemByKey = new Map<string, Reasoning>()
  for (const item of items) {
    for (const key of listReasoningKeys(item)) if (!itemByKey.has(key)) itemByKey.set(key, item)
  }
  return (item) => {
    if (item.type === 'reasoning' && identicalItems.has(item)) return item
    const copies = listReasoningKeys(item).map((key) => itemByKey.get(key))
    return copies.find((copy) => copy !== undefined) ?? null
  }
}
