/**
 * Finds rounds and pinned items in a list. A round is a question and everything up to the next question.
 * A question is one or several consecutive user messages. Items before the first question belong to no
 * round.
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

/** Returns the index of each round's first item, in order. */
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
 * Counts the instructions, compactions and summaries at the start of the list, so that an item can be
 * inserted after them. Anthropic's compaction ends the count, because it can be in the middle of an
 * answer, where nothing may be inserted.
 */
export function countItemsBeforeFirstRound(items: readonly Item[]): number {
  const end = items.findIndex((item) => {
    return !isInstruction(item) && (!affectsAllLaterItems(item) || replacesUserMessages(item))
  })
  return end < 0 ? items.length : end
}

const LASTING_TYPES: ReadonlySet<unknown> = new Set([
  'compaction',
  'configuration_update',
  'additional_tools',
])

/** True for an item on which all later items depend, e.g. a compaction or a summary. */
export function affectsAllLaterItems(item: Item): boolean {
  return item.type === 'opaque'
    ? LASTING_TYPES.has(item.raw['type'])
    : isCompactionMessage(item) || isHistorySummary(item)
}

/** True if the client set `pin` on the item, so that it is never dropped. */
export function isPinnedByClient(item: Item): boolean {
  return item.native?.['backstory']?.['pin'] === true
}

/** True for an item that no window drops. `createPinnedItemPredicate` adds related items, e.g. the call of a pinned output. */
export function isKeptInEveryWindow(item: Item): boolean {
  return affectsAllLaterItems(item) || isPinnedByClient(item)
}
