/**
 * A round is a user's question with everything up to the next question. Several user messages in
 * a row are one question. What stands before the first question is the preamble.
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

/** Where the rounds begin. A round's number is its place in this list. */
export function findRoundStarts(items: readonly Item[]): readonly number[] {
  const starts: number[] = []
  for (let at = 0; at < items.length; at += 1) {
    if (isUserMessage(items[at]) && !isUserMessage(items[at - 1])) starts.push(at)
  }
  return starts
}

/** Behind the last user message of the question that begins at `start`. */
export function findQuestionEnd(items: readonly Item[], start: number): number {
  let end = start
  while (isUserMessage(items[end])) end += 1
  return end
}

/**
 * How many items at the beginning are never part of a history: instructions and the like. What is told
 * behind them is not told in the middle of an answer, which is where some compactions stand.
 */
export function countHeadItems(items: readonly Item[]): number {
  let length = 0
  for (const item of items) {
    if (!isInstruction(item) && (!hasLastingEffect(item) || replacesUserMessages(item))) break
    length += 1
  }
  return length
}

const HOLDING_ON: ReadonlySet<unknown> = new Set([
  'compaction',
  'configuration_update',
  'additional_tools',
])

/** What goes on to hold after its place: a compaction stands for all that was before it. */
export function hasLastingEffect(item: Item): boolean {
  return item.type === 'opaque'
    ? HOLDING_ON.has(item.raw['type'])
    : isCompactionMessage(item) || isHistorySummary(item)
}

/** What the client has said is never to be left out. */
export function isPinnedByClient(item: Item): boolean {
  return item.native?.['backstory']?.['pin'] === true
}

/** What no window leaves out. What is made in one go with it stays as well: `createPinnedItemPredicate`. */
export function isPinned(item: Item): boolean {
  return hasLastingEffect(item) || isPinnedByClient(item)
}
