/** Whether any call is without its output. Where it stands at the end, a strict service says so. */
import type { Item } from '../../src/core/item.ts'
import { UNPAIRED, callEndOf, findToolCallPairs } from '../../src/core/items/tool-call-pairs.ts'

export function waitsForOutput(items: readonly Item[]): boolean {
  const partners = findToolCallPairs(items)
  return items.some((item, at) => partners[at] === UNPAIRED && callEndOf(item)?.side === 'call')
}
