/**
 * Finds the positions at which a conversation may be cut without splitting a group. One group is, for example, the
 * consecutive messages of a question, reasoning with the items that it led to, or calls with their outputs.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, isToolCallOutput, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'

/**
 * Returns the indexes after `start` at which a group begins. E.g. `[1, 3]` for a question, a call, its output
 * and an answer, from 0 on.
 */
export function findCutPoints(items: readonly Item[], start: number): readonly number[] {
  const isInsidePair = markIndexesInsidePairs(items, start)
  const cutPoints: number[] = []
  for (let index = start + 1; index < items.length; index += 1) {
    if (isInsidePair[index] === 0 && startsGroup(items[index - 1], items[index])) {
      cutPoints.push(index)
    }
  }
  return cutPoints
}

/**
 * Returns for each index 1 if a cut before it would separate a call from its output. Calls before `start` are ignored.
 * E.g. `[0, 0, 1, 0]` for a question, a call, its output and an answer.
 */
export function markIndexesInsidePairs(items: readonly Item[], start = 0): Uint8Array {
  const partners = findToolCallPairs(items)
  const isInsidePair = new Uint8Array(items.length)
  let furthestPartner = UNPAIRED
  for (let index = start; index < items.length; index += 1) {
    if (furthestPartner >= index) isInsidePair[index] = 1
    furthestPartner = Math.max(furthestPartner, partners[index] ?? UNPAIRED)
  }
  return isInsidePair
}

function startsGroup(before: Item | undefined, after: Item | undefined): boolean {
  if (before === undefined || after === undefined || before.type === 'reasoning') return false
  if (isNonAssistantMessage(after)) return !(isUserMessage(before) && isUserMessage(after))
  // All model items up to the next reasoning may result from the same reasoning, so they stay in one group.
  return isNonAssistantMessage(before) || isToolCallOutput(before) || after.type === 'reasoning'
}

/** True for a message with the role `user`, `developer` or `system`. */
export function isNonAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role !== 'assistant'
}
