/**
 * What of a client's items has not found its place yet. Each is found by its names, however many there
 * are, and the first of several of one name comes first.
 */
import type { Item } from '../../core/item.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import { listHostedItemKeys } from '../compare-items.ts'

export interface UnmatchedClientItems {
  readonly take: (item: Item) => void
  /** `null` if there is none. */
  readonly takeCall: (key: string) => Item | null
  readonly takeHosted: (item: Item) => Item | null
  readonly rest: () => Iterable<Item>
}

export function trackUnmatchedClientItems(items: readonly Item[]): UnmatchedClientItems {
  const left = new Set(items)
  let calls: Named | null = null
  let hosted: Named | null = null
  const first = (named: Named, keys: readonly string[]): Item | null => {
    for (const key of keys) {
      const found = lastOf(named.get(key), left)
      if (found === null) continue
      left.delete(found)
      return found
    }
    return null
  }
  return {
    take: (item) => void left.delete(item),
    takeCall(key) {
      calls ??= namedBy(items, (item) => [toolCallKey(item, 'call')])
      return first(calls, [key])
    },
    takeHosted(item) {
      hosted ??= namedBy(items, listHostedItemKeys)
      return hosted.size === 0 ? null : first(hosted, listHostedItemKeys(item))
    },
    rest: () => left,
  }
}

/** The last one first. */
type Named = ReadonlyMap<string, Item[]>

function namedBy(
  items: readonly Item[],
  namesOf: (item: Item) => readonly (string | null)[],
): Named {
  const named = new Map<string, Item[]>()
  for (const item of items.toReversed()) {
    for (const name of namesOf(item)) {
      if (name === null) continue
      const same = named.get(name)
      if (same === undefined) named.set(name, [item])
      else same.push(item)
    }
  }
  return named
}

function lastOf(items: Item[] | undefined, among: ReadonlySet<Item>): Item | null {
  for (let item = items?.pop(); item !== undefined; item = items?.pop()) {
    if (among.has(item)) return item
  }
  return null
}
