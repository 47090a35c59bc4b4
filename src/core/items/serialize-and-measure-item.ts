/**
 * Serializes items for the store, without their origin, and measures their size in bytes. Only
 * `serializeItem` caches the size, because items that are only measured are soon discarded.
 */
import type { Item } from '../item.ts'
import { isJsonLongerThan, isLargeJson, measureJsonInSteps } from '../json/encode-json-in-steps.ts'
import type { Json, JsonObject } from '../json/json.ts'

/** Returns the JSON text of the item without its origin. A caller that has such a copy passes it as `itemWithoutOrigin`. */
export function serializeItem(item: Item, itemWithoutOrigin = removeOrigin(item)): string {
  const text = JSON.stringify(itemWithoutOrigin)
  BYTES.set(item, Buffer.byteLength(text))
  return text
}

export function measureItemBytes(item: Item): number {
  return BYTES.get(item) ?? Buffer.byteLength(JSON.stringify(removeOrigin(item)))
}

/** Measures the large ones of the items in steps, so that `measureItemBytes` finds their size. */
export async function measureLargeItems(items: Iterable<Item>): Promise<void> {
  for (const item of items) {
    const plain = removeOrigin(item) as JsonObject
    if (BYTES.has(item) || !isLargeJson(plain)) continue
    BYTES.set(item, await measureJsonInSteps(plain))
  }
}

/** True if the JSON texts of the items have more than `maxChars` characters. Reads only as many as that. */
export function areItemsLongerThan(items: readonly Item[], maxChars: number): boolean {
  return isJsonLongerThan(items as unknown as Json, maxChars)
}

const BYTES = new WeakMap<Item, number>()

export function removeOrigin(item: Item): object {
  if (item.origin === undefined) return item
  const { origin: _origin, ...rest } = item
  return rest
}
