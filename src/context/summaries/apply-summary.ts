/**
 * Replaces the beginning of a conversation, up to a border between two rounds, by its summary. Instructions at
 * the head and pinned items keep their positions. The summary comes after the last item that it replaces, and
 * so before the first remaining round.
 *
 * The replaced items are recognized by identity: a list that does not begin with exactly these items stays
 * unchanged, and so does a list that contains the summary already.
 */
import type { Item } from '../../core/item.ts'
import { affectsAllLaterItems } from '../../core/items/rounds-and-pinned-items.ts'
import {
  isHistorySummary,
  createHistorySummaryMessage,
  type SummaryContent,
} from '../../core/items/summary-message.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import { filterItems } from '../edit-items.ts'
import { createAlwaysSentItemPredicate, type KeepPredicate } from '../find-undroppable-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface AppliedSummary extends SummaryContent {
  readonly id: string
  /** The replaced items, in order, without those that are always sent. */
  readonly covered: readonly Item[]
}

/** Returns the transform. `isCompacted`: true for a compaction that replaces the summary if it comes after it. */
export function applySummary(
  summary: AppliedSummary,
  isCompacted: (item: Item) => boolean = () => false,
): Transform {
  return {
    name: 'apply-summary',
    // Earlier results stay the same, except after a later compaction that replaces the summary.
    prefixStability: 'lasting',
    run(items) {
      const unchanged = { items, notes: [] }
      const end = findCoveredEnd(items, summary.covered)
      if (end === null || items.slice(end).some(isCompacted)) return unchanged
      const stays = createAlwaysSentItemPredicate(items)
      const { items: kept, notes } = filterItems(items.slice(0, end), stays, 'summarised')
      const detail = `The summary ${summary.id} is told instead of ${notes.length} items.`
      return {
        items: [...kept, createHistorySummaryMessage(summary), ...items.slice(end)],
        notes: [...notes, { did: 'added', why: 'summary-told', detail }],
      }
    },
  }
}

/** Lists the items before an index that a summary would replace. */
export function listCoveredItems(items: readonly Item[], end: number): readonly Item[] {
  const stays = createAlwaysSentItemPredicate(items)
  return items.slice(0, end).filter((item, index) => !stays(index, item))
}

/** Returns the index after the last covered item, or `null` if the list does not begin with these items. */
function findCoveredEnd(items: readonly Item[], covered: readonly Item[]): number | null {
  const stays = createAlwaysSentItemPredicate(items)
  let next = 0
  for (const [index, item] of items.entries()) {
    if (next === covered.length || isHistorySummary(item)) break
    if (stays(index, item)) continue
    if (item !== covered[next]) return null
    next += 1
    if (next === covered.length) return skipPinnedGroup(items, index + 1, stays)
  }
  return null
}

/** Skips pinned model items, so that the summary does not separate a pinned call from its output. */
function skipPinnedGroup(items: readonly Item[], start: number, stays: KeepPredicate): number {
  let end = start
  for (let item = items[end]; item !== undefined; item = items[end]) {
    const followsReasoning = items[end - 1]?.type === 'reasoning'
    if (isNonAssistantMessage(item) || !stays(end, item)) break
    if (affectsAllLaterItems(item) && !followsReasoning) break
    end += 1
  }
  return end
}
