/**
 * Applies the latest compaction that the upstream can read: drops the items that it replaces, and turns a compaction
 * made by the gateway into a message with its summary. User messages and instructions stay, because a compaction does
 * not include them.
 *
 * Anthropic's compaction is an exception. It also replaces user messages, and Anthropic's API ignores all items before
 * it. So items that stay are moved after the answer that contains it.
 *
 * A compaction that the upstream cannot read is dropped and replaces nothing. An upstream's compaction is also dropped
 * if a gateway summary replaces the items before it.
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
import { createPinnedItemPredicate } from '../always-sent-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'
import { canReadCompaction, type CompactionReader } from './can-read-compaction.ts'
import { moveCompactedAnswerToFront } from './move-items-after-compaction.ts'

export function applyCompaction(reader: CompactionReader): Transform {
  return {
    name: 'apply-compaction',
    requiredTraits: ITEM_TRAITS.compaction,
    prefixChanges: 'permanent',
    run(items) {
      if (!items.some(isCompactionOrTrigger)) return { items, notes: [] }
      const { replacesUsers, edit } = createEditor(items, reader)
      const edited = editItems(items, edit)
      if (!replacesUsers) return edited
      const moved = moveCompactedAnswerToFront(edited.items, countLeadingInstructions(items))
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

function createEditor(items: readonly Item[], reader: CompactionReader) {
  const summary = items.findLastIndex(isHistorySummary)
  /** The index of the compaction that is applied; -1 if there is none. */
  const applied = items.findLastIndex(
    (item, index) =>
      isCompaction(item) &&
      canReadCompaction(item, reader) &&
      (index > summary || isGatewayCompaction(item)),
  )
  const compaction = items[applied]
  const replacesUsers = compaction !== undefined && replacesUserMessages(compaction)
  const stays = createPinnedItemPredicate(items)
  /**
   * True for an item before the applied compaction that is still sent: an instruction, a user message that the
   * compaction does not replace, or a pinned item.
   */
  const outlastsCompaction = (item: Item, index: number): boolean =>
    item.type === 'message' && isNonAssistantMessage(item)
      ? !replacesUsers || item.role !== 'user' || stays(index, item)
      : !isCompactionOrTrigger(item) && stays(index, item)
  const edit = (item: Item, index: number): ItemEdit | null => {
    if (index < applied && outlastsCompaction(item, index)) return null
    if (isCompactionTrigger(item)) {
      // A trigger makes a Responses upstream compact the conversation, if the upstream can do so and the trigger is
      // the last item. All other triggers are dropped.
      const isLast = index === items.length - 1
      const isSent = reader.makesCompactions && reader.wire === 'responses' && isLast
      return isSent ? null : { replacement: null, why: 'compaction-trigger' }
    }
    if (index < applied) return { replacement: null, why: 'compacted' }
    if (!isCompaction(item)) return null
    const text = readGatewayCompactionSummary(item)
    if (text !== null) return { replacement: createCompactionMessage(text), why: 'compaction-told' }
    if (index < summary && isUpstreamCompaction(item))
      return { replacement: null, why: 'summarised' }
    if (canReadCompaction(item, reader)) return null
    const isReadable = !isGatewayCompaction(item) && isCompleteCompaction(item)
    const why = isReadable ? 'compaction-made-elsewhere' : 'compaction-unreadable'
    return { replacement: null, why }
  }
  return { replacesUsers, edit }
}
