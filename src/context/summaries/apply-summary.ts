/**
 * Puts a summary in the place of what it stands for: the beginning of a conversation, up to a border
 * between two turns. Instructions at the head and what is pinned stay where they are. The summary is
 * told behind the last item that it stands for, and so in front of the first turn that is kept.
 *
 * What it stands for is known by its items themselves: a list that does not begin with exactly these
 * is left alone, and so is one in which it has been told already.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { hasLastingEffect } from '../../core/items/rounds-and-pinned-items.ts'
import {
  isHistorySummary,
  createHistorySummaryMessage,
  type SummaryContent,
} from '../../core/items/summary-message.ts'
import { isNonAssistantMessage } from '../cut-points.ts'
import { createAlwaysSentItemPredicate } from '../windows/item-weights.ts'
import type { KeepPredicate } from '../find-undroppable-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface AppliedSummary extends SummaryContent {
  readonly id: string
  /** What it stands for, in order, without what stays all the same. */
  readonly covered: readonly Item[]
}

/** `isCompacted` knows what stands for as much, and for more where it stands behind the summary's end. */
export function applySummary(
  summary: AppliedSummary,
  isCompacted: (item: Item) => boolean = () => false,
): Transform {
  return {
    name: 'apply-summary',
    // But for where a compaction has come to stand for more.
    prefixStability: 'lasting',
    run(items) {
      const unchanged = { items, notes: [] }
      const end = coveredEnd(items, summary.covered)
      if (end === null || items.some((item, at) => at >= end && isCompacted(item))) return unchanged
      const stays = createAlwaysSentItemPredicate(items)
      const notes: Note[] = []
      const kept: Item[] = []
      for (const [at, item] of items.slice(0, end).entries()) {
        if (stays(at, item)) kept.push(item)
        else notes.push({ did: 'dropped', at, why: 'summarised' })
      }
      const detail = `The summary ${summary.id} is told instead of ${notes.length} items.`
      notes.push({ did: 'added', why: 'summary-told', detail })
      return { items: [...kept, createHistorySummaryMessage(summary), ...items.slice(end)], notes }
    },
  }
}

/** What of the items before a border a summary would stand for. */
export function listCoveredItems(items: readonly Item[], border: number): readonly Item[] {
  const stays = createAlwaysSentItemPredicate(items)
  return items.slice(0, border).filter((item, at) => !stays(at, item))
}

/** Behind the last item that is covered; `null` if the list does not begin with them. */
function coveredEnd(items: readonly Item[], covered: readonly Item[]): number | null {
  const stays = createAlwaysSentItemPredicate(items)
  let next = 0
  for (const [at, item] of items.entries()) {
    if (next === covered.length || isHistorySummary(item)) break
    if (stays(at, item)) continue
    if (item !== covered[next]) return null
    next += 1
    if (next === covered.length) return behindPinned(items, at + 1, stays)
  }
  return null
}

/** Nothing may stand between a pinned call, or reasoning, and what belongs to it. */
function behindPinned(items: readonly Item[], end: number, stays: KeepPredicate): number {
  let behind = end
  for (let item = items[behind]; item !== undefined; item = items[behind]) {
    const isLedTo = items[behind - 1]?.type === 'reasoning'
    if (isNonAssistantMessage(item) || !stays(behind, item) || (hasLastingEffect(item) && !isLedTo))
      break
    behind += 1
  }
  return behind
}
