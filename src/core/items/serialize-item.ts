/**
 * Serializes items for the store, without their origin, and measures them. `serializeItem` caches the
 * size for later measurements, because an item never changes. `measureItemBytes` does not fill the
 * cache: most measured items are discarded with their request.
 */
import type { Item } from '../item.ts'

/** `bare` is the item without its origin, for a caller that already has it. */
export function serializeItem(item: Item, bare = removeOrigin(item)): string {
  const text = JSON.stringify(bare)
  BYTES.set(item, Buffer.byteLength(text))
  return text
}

export function measureItemBytes(item: Item): number {
  return BYTES.get(item) ?? Buffer.byteLength(JSON.stringify(removeOrigin(item)))
}

const BYTES = new WeakMap<Item, number>()

export function removeOrigin(item: Item): object {
  if (item.origin === undefined) return item
  const { origin: _origin, ...rest } = item
  return rest
}
