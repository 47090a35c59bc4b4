/**
 * Decides which items no cut removes: instructions at the head, items with a lasting effect (summaries,
 * compactions) and items that the client has pinned. All transforms that drop or hide items use it.
 *
 * A pinned item may need others: a call needs its output, an output its call, and reasoning the item
 * that it led to. The predicates differ in how many of these stay as well.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import {
  countItemsBeforeFirstTurn,
  affectsAllLaterItems,
  isPinned,
  isPinnedByClient,
} from '../core/items/rounds-and-pinned-items.ts'
import { findCutPoints, isNonAssistantMessage } from './cut-points.ts'

/** True if the item at this index stays under every cut. */
export type KeepPredicate = (index: number, item: Item) => boolean

/** Keeps the instructions at the head and each pinned item alone, without its call or output. Used for media. */
export function createSinglePinPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, (_, item) => isPinned(item))
}

/** Keeps the instructions at the head and what `createPinnedItemPredicate` keeps. */
export function createAlwaysSentItemPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedItemPredicate(items))
}

/**
 * Keeps the instructions at the head, and each pinned model item with its complete group: its reasoning and
 * the calls of the same batch. A pinned message of a question stays alone. Expects pruned items, in which
 * each output directly follows its calls.
 */
export function createAlwaysSentGroupPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedGroupPredicate(items))
}

function orInHead(items: readonly Item[], isKept: KeepPredicate): KeepPredicate {
  const head = countItemsBeforeFirstTurn(items)
  return (index, item) => index < head || isKept(index, item)
}

/**
 * Keeps each pinned item with its call, its output and the item after pinned reasoning, but not the
 * instructions at the head. Items may be in any order.
 */
export function createPinnedItemPredicate(items: readonly Item[]): KeepPredicate {
  // Most conversations have no pins.
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
      if (staysComplete || isPinned(item)) pinned[start + offset] = 1
    }
    start = end
  }
  return (index) => pinned[index] === 1
}

function isModelMade(item: Item): boolean {
  return !isNonAssistantMessage(item) && !affectsAllLaterItems(item)
}
