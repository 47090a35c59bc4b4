/**
 * The items of turns that were recalled lately. A chat that goes on is sent as a whole each time, and
 * all of it but the newest turn has been read and parsed before. Which turns there are, and whose, the
 * database is asked every time; only what is in them is taken from here. That never changes once a
 * turn has ended, unless it belongs to a conversation, whose items may be taken out of it.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { createLruCache } from '../lru-cache.ts'

export type RecalledItems = Pick<RecordedTurn, 'input' | 'output'>

/** Ids and fingerprints are as they stand in their columns. */
export interface RecallCache {
  /**
   * Of the turns that these keys may name those that need not be read. Whoever asks holds them from
   * then on: what makes room for others meanwhile does not take them away from him.
   */
  readonly atHand: (
    turnIds: readonly string[],
    fingerprints: readonly string[],
  ) => ReadonlyMap<string, RecalledItems>
  /** `chars` is how long its items are as text. */
  readonly keep: (
    id: string,
    fingerprint: string | null,
    items: RecalledItems,
    chars: number,
  ) => void
}

interface Entry {
  readonly fingerprint: string | null
  readonly items: RecalledItems
  readonly chars: number
}

export function createRecallCache(maxChars: number): RecallCache {
  const byWords = new Map<string, Set<string>>()
  const lately = createLruCache<Entry>(
    maxChars,
    ({ chars }) => chars,
    (id, { fingerprint }) => {
      if (fingerprint === null) return
      const same = byWords.get(fingerprint)
      same?.delete(id)
      if (same?.size === 0) byWords.delete(fingerprint)
    },
  )
  return {
    atHand(turnIds, fingerprints) {
      const found = new Map<string, RecalledItems>()
      const take = (id: string): void => {
        const entry = lately.get(id)
        if (entry !== undefined) found.set(id, entry.items)
      }
      for (const id of turnIds) take(id)
      for (const words of fingerprints) for (const id of byWords.get(words) ?? []) take(id)
      return found
    },
    keep(id, fingerprint, items, chars) {
      if (!lately.put(id, { fingerprint, items, chars }) || fingerprint === null) return
      const same = byWords.get(fingerprint)
      if (same === undefined) byWords.set(fingerprint, new Set([id]))
      else same.add(id)
    },
  }
}
