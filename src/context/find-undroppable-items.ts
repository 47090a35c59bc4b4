/**
 * Which items stay, whatever is cut: those that go on to hold, each by itself, and those that the
 * client has pinned. A pinned call keeps its output, an output its call, and reasoning what it led to.
 */
import type { Item } from '../core/item.ts'
import { ALONE, pairsOf } from '../core/items/tool-call-pairs.ts'
import { hasPin, holdsOn } from '../core/items/rounds-and-pinned-items.ts'
import { groupBorders, isFromOutside } from './cut-points.ts'

export type Stays = (at: number, item: Item) => boolean

/** Of any list, also of one whose calls and outputs are not at their places yet. */
export function pinnedPlaces(items: readonly Item[]): Stays {
  // Hardly anybody pins anything.
  if (!items.some(hasPin)) return (_, item) => holdsOn(item)
  const partners = pairsOf(items)
  const pinned = new Uint8Array(items.length)
  for (const [at, item] of items.entries()) {
    const isLedTo = pinned[at - 1] === 1 && items[at - 1]?.type === 'reasoning'
    if (!hasPin(item) && !(isLedTo && isMade(item))) continue
    pinned[at] = 1
    const partner = partners[at] ?? ALONE
    if (partner !== ALONE) pinned[partner] = 1
  }
  return (at, item) => pinned[at] === 1 || holdsOn(item)
}

/**
 * Of a list that is in order: what a model made stays with its whole group, the reasoning that it
 * came of and the calls that were made with it. Of a question, a pinned message stays by itself.
 */
export function pinnedGroups(items: readonly Item[]): Stays {
  if (!items.some(hasPin)) return (_, item) => holdsOn(item)
  const pinned = new Uint8Array(items.length)
  let start = 0
  for (const end of [...groupBorders(items, 0), items.length]) {
    const group = items.slice(start, end)
    const isWhole = group.some((item) => hasPin(item) && isMade(item))
    for (const [at, item] of group.entries()) {
      if (isWhole || holdsOn(item) || hasPin(item)) pinned[start + at] = 1
    }
    start = end
  }
  return (at) => pinned[at] === 1
}

function isMade(item: Item): boolean {
  return !isFromOutside(item) && !holdsOn(item)
}
