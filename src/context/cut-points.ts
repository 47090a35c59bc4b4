/**
 * Finds where a conversation may be cut without separating items that belong together: the messages of
 * one question, reasoning and the items it led to, calls and their outputs.
 */
import type { Item } from '../core/item.ts'
import { UNPAIRED, isToolCallOutput, findToolCallPairs } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'

/**
 * Returns the indexes at which a group begins, without the group that begins at `from`. E.g. `[1, 3]` for a
 * question, a call, its output and an answer.
 */
export function findCutPoints(items: readonly Item[], from: number): readonly number[] {
  const partners = findToolCallPairs(items)
  const cutPoints: number[] = []
  let furthestPartner = UNPAIRED
  for (let index = from + 1; index < items.length; index += 1) {
    furthestPartner = Math.max(furthestPartner, partners[index - 1] ?? UNPAIRED)
    const isInsidePair = furthestPartner >= index
    if (!isInsidePair && startsGroup(items[index - 1], items[index])) cutPoints.push(index)
  }
  return cutPoints
}

function startsGroup(before: Item | undefined, after: Item | undefined): boolean {
  if (before === undefined || after === undefined || before.type === 'reasoning') return false
  if (isNonAssistantMessage(after)) return !(isUserMessage(before) && isUserMessage(after))
  // Model items may all follow from the same reasoning, up to the next reasoning item.
  return isNonAssistantMessage(before) || isToolCallOutput(before) || after.type === 'reasoning'
}

/** True for messages of users, developers and the system. */
export function isNonAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role !== 'assistant'
}
