/**
 * Caches the texts of a turn's input items until the turn's request is stored, which contains the
 * same texts (`deduplicate-against-items.ts`). If the cache has dropped them, the request is stored
 * in full.
 */
import { createLruCache } from '../lru-cache.ts'

export interface ItemTextCache {
  /** `texts` are in the order of their positions. */
  readonly add: (tenant: string, turnId: string, texts: readonly string[]) => void
  /** Returns the texts and removes them; an empty list if they are not cached. */
  readonly take: (tenant: string, turnId: string) => readonly string[]
}

export function createItemTextCache(): ItemTextCache {
  const cache = createLruCache<readonly string[]>(MAX_CACHED_CHARS, countChars)
  return {
    add(tenant, turnId, texts) {
      if (countChars(texts) >= MIN_DEDUPLICATED_CHARS) cache.put(formatKey(tenant, turnId), texts)
    },
    take: (tenant, turnId) => cache.take(formatKey(tenant, turnId)) ?? NONE,
  }
}

/** For gateways that do not store requests, where the texts would never be taken. */
export const NO_ITEM_TEXTS: ItemTextCache = { add: () => undefined, take: () => NONE }

/** About a dozen long requests at a time. */
const MAX_CACHED_CHARS = 8_000_000
/**
 * Minimum length of texts that are compared with items. For shorter ones the comparison costs more
 * than it saves.
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
