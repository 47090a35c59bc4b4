/**
 * Which items stay, whatever is cut: those that go on to hold, each by itself, and those that the
 * client has pinned. A pinned call keeps its output, an output its call, and reasoning what it led to.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import { isPinnedByClient, hasLastingEffect } from '../core/items/rounds-and-pinned-items.ts'
import { findCutPoints, isNonAssistantMessage } from './cut-points.ts'

export type KeepPredicate = (at: number, item: Item) => boolean

/** Of any list, also of one whose calls and outputs are not at their places yet. */
export function createPinnedItemPredicate(items: readonly Item[]): KeepPredicate {
  // Hardly anybody pins anything.
  if (!items.some(isPinnedByClient)) return (_, item) => hasLastingEffect(item)
  const partners = findToolCallPairs(items)
  const pinned = new Uint8Array(items.length)
  for (const [at, item] of items.entries()) {
    const isLedTo = pinned[at - 1] === 1 && items[at - 1]?.type === 'reasoning'
    if (!isPinnedByClient(item) && !(isLedTo && isMade(item))) continue
    pinned[at] = 1
    const partner = partners[at] ?? UNPAIRED
    if (partner !== UNPAIRED) pinned[partner] = 1
  }
  return (at, item) => pinned[at] === 1 || hasLastingEffect(item)
}

/**
 * Of a list that is in order: what a model made stays with its whole group, the reasoning that it
 * came of and the calls that were made with it. Of a question, a pinned message stays by itself.
 */
export function createPinnedGroupPredicate(items: readonly Item[]): KeepPredicate {
  if (!items.some(isPinnedByClient)) return (_, item) => hasLastingEffect(item)
  const pinned = new Uint8Array(items.length)
  let start = 0
  for (const end of [...findCutPoints(items, 0), items.length]) {
    const group = items.slice(start, end)
    const isWhole = group.some((item) => isPinnedByClient(item) && isMade(item))
    for (const [at, item] of group.entries()) {
      if (isWhole || hasLastingEffect(item) || isPinnedByClient(item)) pinned[start + at] = 1
    }
    start = end
  }
  return (at) => pinned[at] === 1
}

function isMade(item: Item): boolean {
  return !isNonAssistantMessage(item) && !hasLastingEffect(item)
}
