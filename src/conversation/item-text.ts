/**
 * An item as JSON, as it is kept and weighed: without who made it, which is not part of what was said.
 * To write it takes longer than to read it, so whoever writes it leaves behind how large it is. That an
 * item never changes makes it true for good.
 */
import type { Item } from './item.ts'

export function itemText(item: Item): string {
  const text = JSON.stringify(withoutOrigin(item))
  BYTES.set(item, Buffer.byteLength(text))
  return text
}

export function itemBytes(item: Item): number {
  const known = BYTES.get(item)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(withoutOrigin(item)))
  BYTES.set(item, bytes)
  return bytes
}

const BYTES = new WeakMap<Item, number>()

export function withoutOrigin(item: Item): object {
  if (item.origin === undefined) return item
  const { origin: _origin, ...rest } = item
  return rest
}
