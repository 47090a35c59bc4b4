/**
 * An item as JSON, as it is kept and weighed: without who made it, which is not part of what was said.
 * To write it takes longer than to read it, so whoever keeps it leaves behind how large it is. That an
 * item never changes makes it true for good. Who only weighs it leaves nothing: of a thousand items
 * that are gone with their request, to remember each costs more than it could save.
 */
import type { Item } from '../item.ts'

/** `bare` is the item without its origin, for who has that already. */
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
