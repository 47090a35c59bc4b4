/**
 * Drops the items before the last reset of the conversation, which a client sets in a field of an item. Leading
 * instructions and pinned items stay. Summaries and compactions of the dropped items are dropped, too.
 *
 * This transform runs first, so that for all other transforms the conversation begins at the reset.
 */
import { isCompaction, isCompactionMessage } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import { readHistoryReset } from '../../core/items/gateway-fields.ts'
import { countLeadingInstructions } from '../../core/items/leading-instructions.ts'
import { isHistorySummary } from '../../core/items/summary-message.ts'
import { filterItems } from '../edit-items.ts'
import { createPinnedItemPredicate } from '../always-sent-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function dropBeforeReset(): Transform {
  return {
    name: 'after-reset',
    requiredTraits: ITEM_TRAITS.reset,
    prefixChanges: 'permanent',
    run(items) {
      const start = findResetEnd(items)
      if (start === 0) return { items, notes: [] }
      const head = countLeadingInstructions(items)
      const isPinned = createPinnedItemPredicate(items)
      const stays = (index: number, item: Item): boolean =>
        index >= start || index < head || (isPinned(index, item) && !replacesHistory(item))
      return filterItems(items, stays, 'before-reset')
    },
  }
}

/**
 * Returns the index of the first item that is kept because of the last reset; 0 if no item has a reset. The reset
 * `before` keeps the item that has it and all later items; the reset `behind` keeps only the later items.
 */
function findResetEnd(items: readonly Item[]): number {
  const index = items.findLastIndex((item) => readHistoryReset(item) !== null)
  const item = items[index]
  if (item === undefined) return 0
  return readHistoryReset(item) === 'behind' ? index + 1 : index
}

function replacesHistory(item: Item): boolean {
  return isCompaction(item) || isCompactionMessage(item) || isHistorySummary(item)
}
