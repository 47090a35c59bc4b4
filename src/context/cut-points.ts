/**
 * Where a conversation may be cut without parting what belongs together: a question of several
 * messages, reasoning and what it led to, calls and their outputs.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, isCallOutput, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'

/** The places where a group begins, but for the one that begins at `from`. */
export function findCutPoints(items: readonly Item[], from: number): readonly number[] {
  const partners = findToolCallPairs(items)
  const borders: number[] = []
  let furthestPartner = UNPAIRED
  for (let at = from + 1; at < items.length; at += 1) {
    furthestPartner = Math.max(furthestPartner, partners[at - 1] ?? UNPAIRED)
    if (furthestPartner < at && beginsAnew(items[at - 1], items[at])) borders.push(at)
  }
  return borders
}

function beginsAnew(before: Item | undefined, after: Item | undefined): boolean {
  if (before === undefined || after === undefined || before.type === 'reasoning') return false
  if (isNonAssistantMessage(after)) return !(isUserMessage(before) && isUserMessage(after))
  // What the model goes on to make may come of the same reasoning, until it reasons anew.
  return isNonAssistantMessage(before) || isCallOutput(before) || after.type === 'reasoning'
}

/** Said by anybody but the model. */
export function isNonAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role !== 'assistant'
}
