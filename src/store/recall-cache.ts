/**
 * The items of turns that were recalled lately. A chat that goes on is sent as a whole each time, and
 * all of it but the newest turn has been read and parsed before. Which turns there are, and whose, the
 * database is asked every time; only what is in them is taken from here. That never changes once a
 * turn has ended, unless it belongs to a conversation, whose items may be taken out of it.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'

export type RecalledItems = Pick<RememberedTurn, 'input' | 'output'>

/** `id` as it stands in its column. */
export interface RecallCache {
  /** Which turns that these keys may name need not be read, by their ids. */
  readonly atHand: (
    turnIds: readonly string[],
    fingerprints: readonly string[],
  ) => readonly string[]
  readonly find: (id: string) => RecalledItems | undefined
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
      const known = turnIds.filter((id) => entries.has(id))
      return [...known, ...fingerprints.flatMap((words) => [...(byWords.get(words) ?? [])])]
    },
    find(id) {
      const entry = entries.get(id)
      if (entry === undefined) return undefined
      entries.delete(id)
      entries.set(id, entry)
      return entry.items
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
