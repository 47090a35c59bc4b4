/**
 * Applies the latest readable compaction: drops the items that it replaces, and turns a compaction made by
 * the gateway into a message with its summary. User messages and instructions stay, because compactions
 * do not include them. Anthropic's compaction also replaces user messages, and Anthropic's API ignores items
 * before it, so items with a lasting effect are moved after it.
 *
 * A compaction that the upstream cannot read is dropped and replaces nothing. The same holds for an upstream's
 * compaction of items that a gateway summary now replaces.
 */
import {
  isCompaction,
  isCompactionTrigger,
  isUpstreamCompaction,
  isGatewayCompaction,
  isCompleteCompaction,
  replacesUserMessages,
  readGatewayCompactionSummary,
  createCompactionMessage,
} from '../../core/items/compaction-item.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import type { Item } from '../../core/item.ts'
import { isHistorySummary } from '../../core/items/summary-message.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import { editItems, type ItemEdit } from '../edit-items.ts'
import { createPinnedItemPredicate, type KeepPredicate } from '../find-undroppable-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'
import { canReadCompaction, type CompactionSupport } from './can-read-compaction.ts'
import { moveAnswerFirst } from './move-items-after-compaction.ts'

export function applyCompaction(reader: CompactionSupport): Transform {
  return {
    name: 'apply-compaction',
    needs: ITEM_TRAITS.compaction,
    prefixStability: 'lasting',
    run(items) {
      if (!items.some(isCompactionOrTrigger)) return { items, notes: [] }
      const context = createContext(items, reader)
      const edited = editItems(items, (item, index) => editItem(item, index, context))
      if (!context.replacesUsers) return edited
      const moved = moveAnswerFirst(edited.items, countLeadingInstructions(items))
      const dropped = new Set(
        edited.notes.flatMap(({ did, at }) => (did === 'dropped' ? [at] : [])),
      )
      const indexes = [...items.keys()].filter((index) => !dropped.has(index))
      const notes = moved.notes.map((note) => ({ ...note, at: indexes[note.at ?? 0] ?? 0 }))
      return { items: moved.items, notes: [...edited.notes, ...notes] }
    },
  }
}

function isCompactionOrTrigger(item: Item): boolean {
  return isCompaction(item) || isCompactionTrigger(item)
}

interface CompactionContext {
  readonly reader: CompactionSupport
  /** The index of the compaction that is applied; -1 if there is none. */
  readonly applied: number
  /** True if the applied compaction also replaces user messages. */
  readonly replacesUsers: boolean
  /** The index of the gateway's summary, which replaces all items before it; -1 if there is none. */
  readonly summary: number
  readonly lastIndex: number
  readonly stays: KeepPredicate
}

function createContext(items: readonly Item[], reader: CompactionSupport): CompactionContext {
  const summary = items.findLastIndex(isHistorySummary)
  const applied = items.findLastIndex(
    (item, index) =>
      isCompaction(item) &&
      canReadCompaction(item, reader) &&
      (index > summary || isGatewayCompaction(item)),
  )
  const item = items[applied]
  const replacesUsers = item !== undefined && replacesUserMessages(item)
  const stays = createPinnedItemPredicate(items)
  return { reader, applied, replacesUsers, summary, lastIndex: items.length - 1, stays }
}

function editItem(item: Item, index: number, context: CompactionContext): ItemEdit | null {
  const { reader, applied, summary, lastIndex } = context
  if (index < applied && outlastsCompaction(item, index, context)) return null
  if (isCompactionTrigger(item)) {
    // A trigger in the last position makes such an upstream compact the conversation now.
    const isSent = reader.compacts && reader.wire === 'responses' && index === lastIndex
    return isSent ? null : { item: null, why: 'compaction-trigger' }
  }
  if (index < applied) return { item: null, why: 'compacted' }
  if (!isCompaction(item)) return null
  const text = readGatewayCompactionSummary(item)
  if (text !== null) return { item: createCompactionMessage(text), why: 'compaction-told' }
  if (index < summary && isUpstreamCompaction(item)) return { item: null, why: 'summarised' }
  if (canReadCompaction(item, reader)) return null
  const isReadable = !isGatewayCompaction(item) && isCompleteCompaction(item)
  return { item: null, why: isReadable ? 'compaction-made-elsewhere' : 'compaction-unreadable' }
}

/** True for instructions, for user messages unless they are replaced, and for items that are always sent. */
function outlastsCompaction(
  item: Item,
  index: number,
  { replacesUsers, stays }: CompactionContext,
): boolean {
  if (item.type === 'message' && isNonAssistantMessage(item)) {
    return !replacesUsers || item.role !== 'user' || stays(index, item)
  }
  return !isCompactionOrTrigger(item) && stays(index, item)
}
