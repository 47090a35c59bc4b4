/** True if a call has no output. Strict services reject such a call at the end of a conversation. */
import type { Item } from '../../src/core/item.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../src/core/items/tool-call-pairs.ts'

export function hasOpenCall(items: readonly Item[]): boolean {
  const partners = findToolCallPairs(items)
  return items.some(
    (item, at) => partners[at] === UNPAIRED && readToolCallIdentity(item)?.side === 'call',
  )
}
