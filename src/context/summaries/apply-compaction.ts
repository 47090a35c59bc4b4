/**
 * Takes a compaction at its word: what stands before the newest one that can be read is left out,
 * and of ours the summary is told in its place. What the user said stays, and so do instructions,
 * because a compaction is made beside them and not out of them. Anthropic's stands for what the user
 * said as well, and its API reads nothing that is in front of one: what goes on to hold follows it.
 *
 * One that the upstream cannot read stands for nothing here: it is left out, and all that was said
 * before it is sent. So is one that an upstream made of what a summary of the gateway is told of.
 */
import {
  isCompaction,
  isCompactionTrigger,
  isUpstreamCompaction,
  isGatewayCompaction,
  isCompleteCompaction,
  replacesUserMessages,
  readGatewayCompaction,
  createCompactionMessage,
} from '../../core/items/compaction-item.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { isHistorySummary } from '../../core/items/summary-message.ts'
import { moveAnswerFirst } from './move-items-after-compaction.ts'
import { createPinnedItemPredicate, type KeepPredicate } from '../find-undroppable-items.ts'
import { canReadCompaction, type CompactionSupport } from './can-read-compaction.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function applyCompaction(reader: CompactionSupport): Transform {
  return {
    name: 'apply-compaction',
    needs: ITEM_TRAITS.compaction,
    prefixStability: 'lasting',
    run(items) {
      const notes: Note[] = []
      // Most conversations have nothing of the kind.
      if (!items.some(isOurBusiness)) return { items, notes }
      const place = placeIn(items, reader)
      const kept: Item[] = []
      const places: number[] = []
      const stays = createPinnedItemPredicate(items)
      for (const [at, item] of items.entries()) {
        const isStaying = at < place.newest && outlasts(item, at, stays, place)
        const { item: fate, why } = isStaying
          ? { item, why: null }
          : fateOf(item, at, items, place, reader)
        if (why !== null) notes.push({ did: fate === null ? 'dropped' : 'changed', at, why })
        if (fate === null) continue
        kept.push(fate)
        places.push(at)
      }
      if (!place.isOfAll) return notes.length === 0 ? { items, notes } : { items: kept, notes }
      const first = moveAnswerFirst(kept, countLeadingInstructions(items))
      for (const note of first.notes) notes.push({ ...note, at: places[note.at ?? 0] ?? 0 })
      return notes.length === 0 ? { items, notes } : { items: first.items, notes }
    },
  }
}

function isOurBusiness(item: Item): boolean {
  return isCompaction(item) || isCompactionTrigger(item)
}

interface Place {
  /** Of the compaction that is taken at its word; -1 if there is none. */
  readonly newest: number
  /** Whether it stands for what the user said, too. */
  readonly isOfAll: boolean
  /** Up to where a summary of the gateway stands for everything. */
  readonly summarised: number
}

function placeIn(items: readonly Item[], reader: CompactionSupport): Place {
  const summarised = items.findLastIndex(isHistorySummary)
  const newest = items.findLastIndex(
    (item, at) =>
      isCompaction(item) &&
      canReadCompaction(item, reader) &&
      (at > summarised || isGatewayCompaction(item)),
  )
  const item = items[newest]
  return { newest, isOfAll: item !== undefined && replacesUserMessages(item), summarised }
}

interface Fate {
  readonly item: Item | null
  readonly why: string | null
}

function fateOf(
  item: Item,
  at: number,
  items: readonly Item[],
  { newest, summarised }: Place,
  reader: CompactionSupport,
): Fate {
  if (isCompactionTrigger(item)) {
    const isAble = reader.compacts && reader.wire === 'responses'
    const isHeard = isAble && at === items.length - 1
    return isHeard ? { item, why: null } : { item: null, why: 'compaction-trigger' }
  }
  if (at < newest) return { item: null, why: 'compacted' }
  if (!isCompaction(item)) return { item, why: null }
  const summary = readGatewayCompaction(item)
  if (summary !== null) return { item: createCompactionMessage(summary), why: 'compaction-told' }
  if (at < summarised && isUpstreamCompaction(item)) return { item: null, why: 'summarised' }
  if (canReadCompaction(item, reader)) return { item, why: null }
  const isReadable = !isGatewayCompaction(item) && isCompleteCompaction(item)
  return { item: null, why: isReadable ? 'compaction-made-elsewhere' : 'compaction-unreadable' }
}

/** What somebody other than the model said, and what goes on to hold after its place. */
function outlasts(item: Item, at: number, stays: KeepPredicate, { isOfAll }: Place): boolean {
  if (item.type === 'message' && item.role !== 'assistant') {
    return !isOfAll || item.role !== 'user' || stays(at, item)
  }
  return !isCompaction(item) && !isCompactionTrigger(item) && stays(at, item)
}
