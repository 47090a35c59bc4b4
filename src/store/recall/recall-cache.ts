/**
 * Caches the items of recalled turns. A client sends its complete chat with each request, so most
 * of its turns were read and parsed for an earlier request. The database still decides which turns
 * exist and who owns them; the cache only replaces reading their items. Items do not change after a
 * turn has ended, except in conversations, where clients can remove items; turns of conversations
 * are not cached.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { createLruCache } from '../../core/caching/lru-cache.ts'

export type RecalledItems = Pick<RecordedTurn, 'input' | 'output'>

/** Cache of items by turn. Ids and fingerprints are encoded as in their columns. */
export interface RecallCache {
  /**
   * Returns the cached items of turns with these ids or fingerprints. The result stays valid if the
   * cache drops the items meanwhile.
   */
  readonly find: (
    turnIds: readonly string[],
    fingerprints: readonly string[],
  ) => ReadonlyMap<string, RecalledItems>
  readonly add: (id: string, fingerprint: string | null, items: RecalledItems) => void
}

interface Entry {
  readonly fingerprint: string | null
  readonly items: RecalledItems
}

export function createRecallCache(maxBytes: number): RecallCache {
  const idsByFingerprint = new Map<string, Set<string>>()
  const cache = createLruCache<Entry>(maxBytes, (id, { fingerprint }) => {
    if (fingerprint === null) return
    const ids = idsByFingerprint.get(fingerprint)
    ids?.delete(id)
    if (ids?.size === 0) idsByFingerprint.delete(fingerprint)
  })
  return {
    find(turnIds, fingerprints) {
      const found = new Map<string, RecalledItems>()
      const addToResult = (id: string): void => {
        const entry = cache.get(id)
        if (entry !== undefined) found.set(id, entry.items)
      }
      for (const id of turnIds) addToResult(id)
      for (const fingerprint of fingerprints)
        for (const id of idsByFingerprint.get(fingerprint) ?? []) addToResult(id)
      return found
    },
    add(id, fingerprint, items) {
      if (!cache.put(id, { fingerprint, items }) || fingerprint === null) return
      const ids = idsByFingerprint.get(fingerprint)
      if (ids === undefined) idsByFingerprint.set(fingerprint, new Set([id]))
      else ids.add(id)
    },
  }
}
