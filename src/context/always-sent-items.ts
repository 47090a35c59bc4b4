/**
 * Decides which items are always sent: leading instructions, items with a lasting effect (summaries and
 * compactions) and items that the client has pinned. Windows, resets and limits do not drop these items. Exceptions:
 * a reset drops earlier summaries and compactions, and hidden authors are hidden even if their messages are pinned.
 *
 * A pinned item may need others: a call needs its output, an output its call, and reasoning the item
 * that it led to. The predicates below differ in how many of these items they include, because their callers drop
 * different things: single media (`createSinglePinPredicate`), items before a summary
 * (`createAlwaysSentItemPredicate`), items before a reset or compaction (`createPinnedItemPredicate`), and
 * complete groups outside of a window (`createAlwaysSentGroupPredicate`).
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import {
  countItemsBeforeFirstRound,
  affectsAllLaterItems,
  isKeptInEveryWindow,
  isPinnedByClient,
} from '../core/items/rounds-and-pinned-items.ts'
import { findCutPoints, isNonAssistantMessage } from './cut-points.ts'

/** True if the item at this index is always sent. */
export type KeepPredicate = (index: number, item: Item) => boolean

/**
 * Returns a predicate for hiding media: true for leading instructions and pinned items, but not for other items of
 * the group of a pinned item.
 */
export function createSinglePinPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, (_, item) => isKeptInEveryWindow(item))
}

/** Returns a predicate that is true for leading items and for all items of `createPinnedItemPredicate`. */
export function createAlwaysSentItemPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedItemPredicate(items))
}

/**
 * Returns a predicate that is true for leading items, for pinned messages of a question, and for the complete
 * group of a pinned model item: its reasoning and the calls that were made together, with their outputs. The list
 * must be pruned, so that each output directly follows its calls.
 */
export function createAlwaysSentGroupPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedGroupPredicate(items))
}

function orInHead(items: readonly Item[], isKept: KeepPredicate): KeepPredicate {
  const head = countItemsBeforeFirstRound(items)
  return (index, item) => index < head || isKept(index, item)
}

/**
 * Returns a predicate that is true for each pinned item with its call or output, for the model item after pinned
 * reasoning, and for summaries and compactions, but not for leading instructions. Items may be in any order.
 */
export function createPinnedItemPredicate(items: readonly Item[]): KeepPredicate {
  // Saves the pairing of calls, because most conversations have no pins.
  if (!items.some(isPinnedByClient)) return (_, item) => affectsAllLaterItems(item)
  const partners = findToolCallPairs(items)
  const pinned = new Uint8Array(items.length)
  for (const [index, item] of items.entries()) {
    const followsPin = pinned[index - 1] === 1 && items[index - 1]?.type === 'reasoning'
    if (!isPinnedByClient(item) && !(followsPin && isModelMade(item))) continue
    pinned[index] = 1
    const partner = partners[index] ?? UNPAIRED
    if (partner !== UNPAIRED) pinned[partner] = 1
  }
  return (index, item) => pinned[index] === 1 || affectsAllLaterItems(item)
}

function createPinnedGroupPredicate(items: readonly Item[]): KeepPredicate {
  if (!items.some(isPinnedByClient)) return (_, item) => affectsAllLaterItems(item)
  const pinned = new Uint8Array(items.length)
  let start = 0
  for (const end of [...findCutPoints(items, 0), items.length]) {
    const group = items.slice(start, end)
    const staysComplete = group.some((item) => isPinnedByClient(item) && isModelMade(item))
    for (const [offset, item] of group.entries()) {
      if (staysComplete || isKeptInEveryWindow(item)) pinned[start + offset] = 1
    }
    start = end
  }
  return (index) => pinned[index] === 1
}

function isModelMade(item: Item): boolean {
  return !isNonAssistantMessage(item) && !affectsAllLaterItems(item)
}
