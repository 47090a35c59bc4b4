/**
 * Caches the JSON of a turn's input items until the turn's request is stored, because the request
 * contains the same strings (`deduplicate-against-items.ts`). If the cache has dropped the items,
 * these strings are stored a second time with the request.
 */
import { createLruCache } from '../../core/caching/lru-cache.ts'

export interface ItemTextCache {
  /** Adds the JSON of a turn's items, in the order of their positions. */
  readonly add: (tenant: string, turnId: string, texts: readonly string[]) => void
  /** Returns the texts and removes them; an empty list if they are not cached. */
  readonly take: (tenant: string, turnId: string) => readonly string[]
}

export function createItemTextCache(maxBytes: number): ItemTextCache {
  const cache = createLruCache<readonly string[]>(maxBytes)
  return {
    add(tenant, turnId, texts) {
      if (countChars(texts) >= MIN_DEDUPLICATED_CHARS) cache.put(formatKey(tenant, turnId), texts)
    },
    take: (tenant, turnId) => cache.take(formatKey(tenant, turnId)) ?? NONE,
  }
}

/**
 * A cache that stays empty. Used if the gateway does not store requests, because then no texts
 * would be taken out.
 */
export const NO_ITEM_TEXTS: ItemTextCache = { add: () => undefined, take: () => NONE }

/**
 * If the items or the new part of the body are shorter than this, they are not compared, because
 * that costs more than it saves.
 */
export const MIN_DEDUPLICATED_CHARS = 4_096
const NONE: readonly string[] = []

function formatKey(tenant: string, turnId: string): string {
  return `${turnId} ${tenant}`
}

function countChars(texts: readonly string[]): number {
  let chars = 0
  for (const { length } of texts) chars += length
  return chars
}
