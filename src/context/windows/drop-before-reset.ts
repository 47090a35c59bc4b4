/**
 * Leaves out what was said before the conversation was reset. Instructions at the head stay, and what
 * is pinned; what sums up or compacts the time before does not.
 *
 * It comes before everything that counts, pairs or reads: to these the conversation begins here.
 */
import { isCompaction, isSummaryMessage } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { resetAt } from '../../core/items/author-time-and-reset-fields.ts'
import { isToldSummary } from '../../core/items/summary-message.ts'
import { keepWhere } from '../filter-items.ts'
import { pinnedPlaces } from '../find-undroppable-items.ts'
import type { Transform } from '../transform-interface.ts'

export function afterReset(): Transform {
  return {
    name: 'after-reset',
    steps: 'lasting',
    run(items) {
      const start = startOf(items)
      if (start === 0) return { items, notes: [] }
      const head = instructionsIn(items)
      const isPinned = pinnedPlaces(items)
      const stays = (at: number, item: Item): boolean =>
        at >= start || at < head || (isPinned(at, item) && !tellsOfBefore(item))
      return keepWhere(items, stays, 'before-reset')
    },
  }
}

function startOf(items: readonly Item[]): number {
  const newest = items.findLastIndex((item) => resetAt(item) !== null)
  const item = items[newest]
  if (item === undefined) return 0
  return resetAt(item) === 'behind' ? newest + 1 : newest
}

function instructionsIn(items: readonly Item[]): number {
  const end = items.findIndex(
    (item) => item.type !== 'message' || (item.role !== 'system' && item.role !== 'developer'),
  )
  return end === -1 ? items.length : end
}

function tellsOfBefore(item: Item): boolean {
  return isCompaction(item) || isSummaryMessage(item) || isToldSummary(item)
}
