/**
 * The items of turns that were recalled lately. A chat that goes on is sent as a whole each time, and
 * all of it but the newest turn has been read and parsed before. Which turns there are, and whose, the
 * database is asked every time; only what is in them is taken from here. That never changes once a
 * turn has ended, unless it belongs to a conversation, whose items may be taken out of it.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'

export type RecalledItems = Pick<RememberedTurn, 'input' | 'output'>

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

export function recallCache(maxChars: number): RecallCache {
  /** The least lately used first. */
  const entries = new Map<string, Entry>()
  const byWords = new Map<string, Set<string>>()
  let chars = 0

  const drop = (id: string, entry: Entry): void => {
    entries.delete(id)
    chars -= entry.chars
    if (entry.fingerprint === null) return
    const same = byWords.get(entry.fingerprint)
    same?.delete(id)
    if (same?.size === 0) byWords.delete(entry.fingerprint)
  }
  return {
    atHand(turnIds, fingerprints) {
      const found = new Map<string, RecalledItems>()
      const take = (id: string): void => {
        const entry = entries.get(id)
        if (entry === undefined) return
        found.set(id, entry.items)
        // Now it is the one that was used last.
        entries.delete(id)
        entries.set(id, entry)
      }
      for (const id of turnIds) take(id)
      for (const words of fingerprints) for (const id of byWords.get(words) ?? []) take(id)
      return found
    },
    keep(id, fingerprint, items, size) {
      const before = entries.get(id)
      if (before !== undefined) drop(id, before)
      if (size > maxChars / 4) return
      entries.set(id, { fingerprint, items, chars: size })
      chars += size
      if (fingerprint !== null) {
        const same = byWords.get(fingerprint)
        if (same === undefined) byWords.set(fingerprint, new Set([id]))
        else same.add(id)
      }
      for (const [oldest, entry] of entries) {
        if (chars <= maxChars) break
        drop(oldest, entry)
      }
    },
  }
}
