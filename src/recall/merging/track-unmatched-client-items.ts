/**
 * Tracks the client's items that are not matched with recorded items yet. If several items have the
 * same key, the first one is matched first. A lookup by key takes constant time.
 */
import type { Item } from '../../core/item.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import { listHostedItemKeys } from '../compare-items.ts'
import { appendToGroup } from '../append-to-group.ts'

export interface UnmatchedClientItems {
  readonly remove: (item: Item) => void
  /** Removes and returns the first unmatched call with this key; `null` if there is none. */
  readonly takeCall: (key: string) => Item | null
  readonly takeHosted: (item: Item) => Item | null
  readonly listRemaining: () => Iterable<Item>
}

export function trackUnmatchedClientItems(items: readonly Item[]): UnmatchedClientItems {
  const unmatched = new Set(items)
  let callsByKey: ItemsByKey | null = null
  let hostedByKey: ItemsByKey | null = null
  const takeFirst = (itemsByKey: ItemsByKey, keys: readonly string[]): Item | null => {
    for (const key of keys) {
      const item = popMember(itemsByKey.get(key), unmatched)
      if (item === null) continue
      unmatched.delete(item)
      return item
    }
    return null
  }
  return {
    remove: (item) => void unmatched.delete(item),
    takeCall(key) {
      callsByKey ??= groupByKey(items, (item) => [toolCallKey(item, 'call')])
      return takeFirst(callsByKey, [key])
    },
    takeHosted(item) {
      hostedByKey ??= groupByKey(items, listHostedItemKeys)
      return hostedByKey.size === 0 ? null : takeFirst(hostedByKey, listHostedItemKeys(item))
    },
    listRemaining: () => unmatched,
  }
}

/** Items by key in reverse order, so that `pop` returns the first one. */
type ItemsByKey = ReadonlyMap<string, Item[]>

function groupByKey(
  items: readonly Item[],
  listKeys: (item: Item) => readonly (string | null)[],
): ItemsByKey {
  const itemsByKey = new Map<string, Item[]>()
  for (const item of items.toReversed()) {
    for (const key of listKeys(item)) {
      if (key === null) continue
      appendToGroup(itemsByKey, key, item)
    }
  }
  return itemsByKey
}

function popMember(items: Item[] | undefined, members: ReadonlySet<Item>): Item | null {
  for (let item = items?.pop(); item !== undefined; item = items?.pop()) {
    if (members.has(item)) return item
  }
  return null
}
