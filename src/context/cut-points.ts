/**
 * Finds the positions at which a window or a token limit may cut a conversation, i.e. drop the items before. A cut
 * never splits a group of items that belong together, for example the consecutive messages of a question, reasoning
 * with the items that it led to, or calls with their outputs.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, isToolCallOutput, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'

/**
 * Returns the indexes greater than `start` at which a group of items begins, so that a cut there splits no group. For a
 * question, a call, its output and an answer, with `start` 0: `[1, 3]`.
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
 * Marks the indexes at which a cut would separate a call from its output: they get the value 1, all others 0. For a
 * question, a call, its output and an answer: `[0, 0, 1, 0]`. Calls before `start` are ignored.
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
  // Between a user's message and the next one, a group begins only after an instruction, question or tool output, and
  // before reasoning: other consecutive model items may result from the same reasoning.
  return isNonAssistantMessage(before) || isToolCallOutput(before) || after.type === 'reasoning'
}

/** True for a message with the role `user`, `developer` or `system`. */
export function isNonAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role !== 'assistant'
}
