/**
 * Finds rounds and pinned items. A round is a user's question and everything up to the next question.
 * Consecutive user messages are one question. Items before the first question belong to no round.
 */
import { isCompactionMessage, replacesUserMessages } from './compaction-item.ts'
import { isInstruction } from './leading-instructions.ts'
import type { Item } from '../item.ts'
import { isHistorySummary } from './summary-message.ts'

export function isUserMessage(item: Item | undefined): boolean {
  return item?.type === 'message' && item.role === 'user'
}

export function isAssistantMessage(item: Item | undefined): boolean {
  return item?.type === 'message' && item.role === 'assistant'
}

/** Returns the index of each round's first item. A round's number is its position in this list. */
export function findRoundStarts(items: readonly Item[]): readonly number[] {
  const starts: number[] = []
  for (let index = 0; index < items.length; index += 1) {
    if (isUserMessage(items[index]) && !isUserMessage(items[index - 1])) starts.push(index)
  }
  return starts
}

/** Returns the index after the last user message of the question that begins at `start`. */
export function findQuestionEnd(items: readonly Item[], start: number): number {
  let end = start
  while (isUserMessage(items[end])) end += 1
  return end
}

/**
 * Counts the items at the start that belong to no turn: instructions, compactions, summaries. An item
 * inserted after them is never in the middle of an answer. Anthropic's compaction does not count,
 * because it can be in the middle of one.
 */
export function countHeadItems(items: readonly Item[]): number {
  let length = 0
  for (const item of items) {
    if (!isInstruction(item) && (!hasLastingEffect(item) || replacesUserMessages(item))) break
    length += 1
  }
  return length
}

const LASTING_TYPES: ReadonlySet<unknown> = new Set([
  'compaction',
  'configuration_update',
  'additional_tools',
])

/** True for an item that affects everything after it, e.g. a compaction, which replaces all items before it. */
export function hasLastingEffect(item: Item): boolean {
  return item.type === 'opaque'
    ? LASTING_TYPES.has(item.raw['type'])
    : isCompactionMessage(item) || isHistorySummary(item)
}

/** True if the client set `pin`: the item is never dropped. */
export function isPinnedByClient(item: Item): boolean {
  return item.native?.['backstory']?.['pin'] === true
}

/** True for an item that no window drops. `createPinnedItemPredicate` adds the items that must stay with it. */
export function isPinned(item: Item): boolean {
  return hasLastingEffect(item) || isPinnedByClient(item)
}
