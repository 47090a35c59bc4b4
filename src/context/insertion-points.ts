/**
 * Finds the positions at which the gateway may insert a message of its own, e.g. a policy text. The message may not
 * separate a call from its output, reasoning from the item that it led to, or items of one answer of a model.
 */
import type { Item } from '../core/item.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'
import { UNPAIRED, readToolCallIdentity, findToolCallPairs } from '../core/items/tool-call-pairs.ts'

/**
 * Returns, for each index from 0 to the length of the list, whether a message may be inserted before the item at this
 * index (or, for the last value, at the end). E.g. `[true, true, false, true]` for a question, a call and its output.
 */
export function findInsertionPoints(items: readonly Item[]): readonly boolean[] {
  const partners = findToolCallPairs(items)
  const lastMessage = items.findLastIndex(({ type }) => type === 'message')
  const allowed: boolean[] = [true]
  let openUpTo = 0
  for (const [index, item] of items.entries()) {
    if (readToolCallIdentity(item)?.side === 'call') {
      const partner = partners[index] ?? UNPAIRED
      // A call after the last message may still get its output, so nothing may be inserted after it until then. An
      // older call without an output gets none any more.
      const end = partner === UNPAIRED && index > lastMessage ? items.length : partner
      openUpTo = Math.max(openUpTo, end)
    }
    const next = items[index + 1]
    const continues = next === undefined ? item.type === 'reasoning' : isSameAnswer(item, next)
    allowed.push(index >= openUpTo && !continues)
  }
  return allowed
}

/**
 * True if two consecutive items belong to one answer of a model. Calls, outputs, reasoning and items of hosted tools
 * belong to the model's text beside them; two texts belong together only if they have the same `origin`.
 */
function isSameAnswer(item: Item, next: Item): boolean {
  if (!isItemOfAnswer(item) || !isItemOfAnswer(next)) return false
  if (item.type !== 'message' || next.type !== 'message') return true
  return item.origin !== undefined && item.origin === next.origin
}
