/**
 * Between which items something of another kind may stand: not between a call and its output, not
 * between reasoning and what it led to, and not within what a model said in one go.
 */
import type { Item } from '../core/item.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import { UNPAIRED, callEndOf, findToolCallPairs } from '../core/items/tool-call-pairs.ts'

/** For each place from 0 to the length of the list, whether something may stand in front of it. */
export function findInsertionPoints(items: readonly Item[]): readonly boolean[] {
  const partners = findToolCallPairs(items)
  const lastSaid = items.findLastIndex(({ type }) => type === 'message')
  const borders: boolean[] = [true]
  let openUpTo = 0
  for (const [at, item] of items.entries()) {
    if (callEndOf(item)?.side === 'call') {
      const partner = partners[at] ?? UNPAIRED
      // One without its output waits for it at the end; before that nobody waits any more.
      const end = partner === UNPAIRED && at > lastSaid ? items.length : partner
      openUpTo = Math.max(openUpTo, end)
    }
    const next = items[at + 1]
    const goesOn = next === undefined ? item.type === 'reasoning' : isOneGo(item, next)
    borders.push(at >= openUpTo && !goesOn)
  }
  return borders
}

/** Calls and what a provider's own tools did belong to the words in front of them. */
function isOneGo(item: Item, next: Item): boolean {
  if (!isModelItem(item) || !isModelItem(next)) return false
  if (item.type !== 'message' || next.type !== 'message') return true
  return item.origin !== undefined && item.origin === next.origin
}
