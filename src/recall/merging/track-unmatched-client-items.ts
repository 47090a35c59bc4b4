/**
 * Tracks which of the client's items match no recorded item yet. If several client items have the
 * same key, the first one is matched first.
 */
import type { Item } from '../../core/item.ts'
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
  // The items of each key are in reverse order, so that `pop` returns the first one.
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
 * Returns a function that finds the first item of the list that is the same reasoning item as its
 * argument.
 */
export function createReasoningFinder(items: readonly Item[]): (item: Item) => Item | null {
  if (items.length === 0) return () => null
  const identicalItems = new Set(items)
  const itemByKey = new Map<string, Item>()
  for (const item of items) {
    for (const key of listReasoningKeys(item)) if (!itemByKey.has(key)) itemByKey.set(key, item)
  }
  return (item) => {
    if (identicalItems.has(item)) return item
    const copies = listReasoningKeys(item).map((key) => itemByKey.get(key))
    return copies.find((copy) => copy !== undefined) ?? null
  }
}
