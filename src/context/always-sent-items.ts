/**
 * Decides which items of a conversation are always sent, even if a window, a reset or a limit drops the items around
 * them: leading instructions, items with a lasting effect (summaries and compactions) and items that the client has
 * pinned. There are two exceptions. A reset drops earlier summaries and compactions, and the messages of hidden authors
 * are hidden even if they are pinned.
 *
 * A pinned item may need others: a call needs its output, an output its call, and reasoning the item that it led to.
 * The predicates below differ in how many of these items they include, because their callers drop different things:
 * single media (`createSinglePinPredicate`), items before a summary (`createAlwaysSentItemPredicate`), items before a
 * reset or compaction (`createPinnedItemPredicate`), and complete groups outside of a window
 * (`createAlwaysSentGroupPredicate`).
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

/** True if the item is always sent. `index` is its position in the list for which the predicate was created. */
export type KeepPredicate = (index: number, item: Item) => boolean

/**
 * Returns a predicate for the items whose media no limit hides: pinned items, leading instructions, summaries and
 * compactions. Items that only belong to a pinned item, e.g. the call of a pinned output, are not included.
 */
export function createSinglePinPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, (_, item) => isKeptInEveryWindow(item))
}

/**
 * Returns a predicate for the items that a summary of the gateway does not replace: leading instructions, and all items
 * of `createPinnedItemPredicate` (pinned items with their call or output, earlier summaries and compactions).
 */
export function createAlwaysSentItemPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedItemPredicate(items))
}

/**
 * Returns a predicate for the items that windows and token limits never drop: leading instructions, summaries and
 * compactions, pinned messages of users and instructions, and the complete group of any other pinned item. The group of
 * a pinned output, for example, is the reasoning and the calls that the model made together, with all their outputs.
 * The list must be pruned, so that each output directly follows its calls.
 */
export function createAlwaysSentGroupPredicate(items: readonly Item[]): KeepPredicate {
  return orInHead(items, createPinnedGroupPredicate(items))
}

function orInHead(items: readonly Item[], isKept: KeepPredicate): KeepPredicate {
  const head = countItemsBeforeFirstRound(items)
  return (index, item) => index < head || isKept(index, item)
}

/**
 * Returns a predicate for the items that a reset or compaction does not drop because the client has pinned them: each
 * pinned item with its call or output, and the model item after pinned reasoning. Also true for summaries and
 * compactions, but not for leading instructions. The list need not be pruned.
 */
export function createPinnedItemPredicate(items: readonly Item[]): KeepPredicate {
  // Most conversations have no pins. Returning early saves them the search for the output of each call.
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
