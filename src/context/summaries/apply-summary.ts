/**
 * Replaces the first rounds of a conversation by their summary. Leading instructions and pinned items keep their
 * positions. The summary comes after the last item that it replaces, and thus before the first remaining round.
 *
 * The replaced items are recognized by object identity. The list stays unchanged if
 * it does not begin with these items (besides those that are always sent), or if it contains the summary already.
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
import { createAlwaysSentItemPredicate, type KeepPredicate } from '../always-sent-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface AppliedSummary extends SummaryContent {
  readonly id: string
  /** The items that the summary replaces, in order. Items that are always sent are not included. */
  readonly replacedItems: readonly Item[]
}

/** The summary is not applied if an item after the summarized items `replacesSummary`, e.g. a later compaction. */
export function applySummary(
  summary: AppliedSummary,
  replacesSummary: (item: Item) => boolean = () => false,
): Transform {
  return {
    name: 'apply-summary',
    // The result changes only if a compaction follows that replaces the summary.
    prefixChanges: 'permanent',
    run(items) {
      const unchanged = { items, notes: [] }
      const end = findCoveredEnd(items, summary.replacedItems)
      if (end === null || items.slice(end).some(replacesSummary)) return unchanged
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

/** Lists the items before index `end` that a summary of these items would replace. */
export function listItemsReplacedBySummary(items: readonly Item[], end: number): readonly Item[] {
  const stays = createAlwaysSentItemPredicate(items)
  return items.slice(0, end).filter((item, index) => !stays(index, item))
}

/** Returns the index after the last replaced item, or `null` if the list does not begin with the replaced items. */
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

/**
 * Returns the index after pinned model items at `start`, so that the summary separates no pinned call from its output.
 */
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
