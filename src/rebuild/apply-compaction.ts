/**
 * Takes a compaction at its word: what stands before the newest one that can be read is left out,
 * and of ours the summary is told in its place. What the user said stays, and so do instructions,
 * because a compaction is made beside them and not out of them.
 *
 * One that the upstream cannot read stands for nothing here: it is left out, and all that was said
 * before it is sent.
 */
import {
  isCompaction,
  isCompactionTrigger,
  isOurs,
  summaryIn,
  summaryMessage,
} from '../conversation/compaction.ts'
import type { Item, Opaque } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import { pinnedPlaces, type Stays } from './pinned-places.ts'
import type { Transform } from './transform.ts'

/** Who is asked. What others have sealed, only their makers can read. */
export interface Reader {
  readonly wire: string
  readonly account: string
  /** Whether it makes compactions itself, and so understands that it is asked for one. */
  readonly compacts: boolean
}

export function applyCompaction(reader: Reader): Transform {
  return {
    name: 'apply-compaction',
    run(items) {
      const newest = items.findLastIndex((item) => isCompaction(item) && isReadable(item, reader))
      const notes: Note[] = []
      if (newest < 0 && !items.some(isOurBusiness)) return { items, notes }
      const kept: Item[] = []
      const stays = pinnedPlaces(items)
      for (const [at, item] of items.entries()) {
        const isStaying = at < newest && outlasts(item, at, stays)
        const { item: fate, why } = isStaying
          ? { item, why: null }
          : fateOf(item, at, items, newest, reader)
        if (why !== null) notes.push({ did: fate === null ? 'dropped' : 'changed', at, why })
        if (fate !== null) kept.push(fate)
      }
      return notes.length === 0 ? { items, notes } : { items: kept, notes }
    },
  }
}

/** Most conversations have nothing of the kind. */
function isOurBusiness(item: Item): boolean {
  return isCompaction(item) || isCompactionTrigger(item)
}

interface Fate {
  readonly item: Item | null
  readonly why: string | null
}

function fateOf(
  item: Item,
  at: number,
  items: readonly Item[],
  newest: number,
  reader: Reader,
): Fate {
  if (isCompactionTrigger(item)) {
    const isHeard = reader.compacts && at === items.length - 1
    return isHeard ? { item, why: null } : { item: null, why: 'compaction-trigger' }
  }
  if (at < newest) return { item: null, why: 'compacted' }
  if (!isCompaction(item)) return { item, why: null }
  const summary = summaryIn(item)
  if (summary !== null) return { item: summaryMessage(summary), why: 'compaction-told' }
  if (isReadable(item, reader)) return { item, why: null }
  return { item: null, why: isOurs(item) ? 'compaction-unreadable' : 'compaction-made-elsewhere' }
}

/** What somebody other than the model said, and what goes on to hold after its place. */
function outlasts(item: Item, at: number, stays: Stays): boolean {
  if (item.type === 'message' && item.role !== 'assistant') return true
  return !isCompaction(item) && !isCompactionTrigger(item) && stays(at, item)
}

function isReadable(item: Opaque, { wire, account }: Reader): boolean {
  if (isOurs(item)) return summaryIn(item) !== null
  if (wire !== 'responses') return false
  // Without an origin the client has brought it along, and knows where from.
  const { origin } = item
  return origin === undefined || (origin.wire === wire && origin.account === account)
}
