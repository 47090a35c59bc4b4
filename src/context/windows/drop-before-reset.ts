/**
 * Leaves out what was said before the conversation was reset. Instructions at the head stay, and what
 * is pinned; what sums up or compacts the time before does not.
 *
 * It comes before everything that counts, pairs or reads: to these the conversation begins here.
 */
import { isCompaction, isCompactionMessage } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { readHistoryReset } from '../../core/items/author-time-and-reset-fields.ts'
import { isHistorySummary } from '../../core/items/summary-message.ts'
import { filterItems } from '../filter-items.ts'
import { createPinnedItemPredicate } from '../find-undroppable-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function dropBeforeReset(): Transform {
  return {
    name: 'after-reset',
    needs: ITEM_TRAITS.reset,
    prefixStability: 'lasting',
    run(items) {
      const start = startOf(items)
      if (start === 0) return { items, notes: [] }
      const head = instructionsIn(items)
      const isPinned = createPinnedItemPredicate(items)
      const stays = (at: number, item: Item): boolean =>
        at >= start || at < head || (isPinned(at, item) && !tellsOfBefore(item))
      return filterItems(items, stays, 'before-reset')
    },
  }
}

function startOf(items: readonly Item[]): number {
  const newest = items.findLastIndex((item) => readHistoryReset(item) !== null)
  const item = items[newest]
  if (item === undefined) return 0
  return readHistoryReset(item) === 'behind' ? newest + 1 : newest
}

function instructionsIn(items: readonly Item[]): number {
  const end = items.findIndex(
    (item) => item.type !== 'message' || (item.role !== 'system' && item.role !== 'developer'),
  )
  return end === -1 ? items.length : end
}

function tellsOfBefore(item: Item): boolean {
  return isCompaction(item) || isCompactionMessage(item) || isHistorySummary(item)
}
