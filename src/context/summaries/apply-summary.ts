/**
 * Replaces the first rounds of a conversation by their summary. Leading instructions and pinned items among them stay
 * before the summary. The summary comes before the first remaining round.
 *
 * The replaced items are recognized by object identity. The list stays unchanged if it does not begin with these items
 * (besides those that are always sent), or if there is a summary among them already.
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

/**
 * Returns the transform that applies `summary`. It changes nothing if `replacesSummary` is true for an item after the
 * summarized ones, e.g. for a later compaction.
 */
export function applySummary(
  summary: AppliedSummary,
  replacesSummary: (item: Item) => boolean = () => false,
): Transform {
  return {
    name: 'apply-summary',
    // When the conversation grows, the result changes only if a compaction is added that replaces the summary.
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

/**
 * Lists the items that a summary of everything before index `end` would replace: all except those that are always sent.
 */
export function listItemsReplacedBySummary(items: readonly Item[], end: number): readonly Item[] {
  const stays = createAlwaysSentItemPredicate(items)
  return items.slice(0, end).filter((item, index) => !stays(index, item))
}

/**
 * Returns the index at which the summary is inserted: after the last item that it replaces and the pinned model items
 * directly after it. `null` if the list does not begin with the items of `covered`, so that the summary cannot be
 * applied.
 */
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
 * Moves the position `start` of the summary past pinned model items that follow there, so that the summary separates no
 * pinned call from its output. Returns the new position.
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
