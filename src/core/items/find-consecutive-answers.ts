/**
 * Finds answers that directly follow another answer. A client may ask the model to continue an answer,
 * and afterwards the history has two answers in a row. Some wires need a user message between them
 * that asks the model to continue. The second answer was generated after that message, so every later
 * request must insert it again at the same index.
 *
 * All items of an answer share one `origin` object. An item without an origin is text of the client, or
 * text of an answer that the client edited. Edited text comes in the middle of its answer or before its
 * calls; a call after such text therefore does not start another answer, unless an item of another
 * answer comes before the text.
 */
import { isModelItem } from './is-model-item.ts'
import { isCallOutput } from './tool-call-pairs.ts'
import { hasLastingEffect, isAssistantMessage } from './rounds-and-pinned-items.ts'
import { isToolCall, type Item, type Origin } from '../item.ts'

/** Returns the index of the first item of each answer that directly follows another one. */
export function findConsecutiveAnswers(items: readonly Item[]): readonly number[] {
  const startedAnswers = new Set<Origin>()
  const indexes: number[] = []
  let previous: Item | null = null
  /** True if an item of another answer comes before, without a tool output in between. */
  let followsAnswer = false
  for (const [index, item] of items.entries()) {
    const { origin } = item
    if (origin !== undefined && !startedAnswers.has(origin)) {
      startedAnswers.add(origin)
      const continues = previous !== null && (followsAnswer || continuesAnswer(previous, item))
      if (continues && isAnswerItem(item)) indexes.push(index)
    }
    previous = isAnswerItem(item) ? item : null
    // Only a gateway tool has its output among answer items: its call and the text after it are one answer.
    followsAnswer =
      previous !== null && !isCallOutput(item) && (followsAnswer || origin !== undefined)
  }
  return indexes
}

/** False for items that separate two answers: messages of others, tool outputs, items with a lasting effect. */
function isAnswerItem(item: Item): boolean {
  return isModelItem(item) && !hasLastingEffect(item)
}

function continuesAnswer(previous: Item, item: Item): boolean {
  return previous.origin !== undefined || (isAssistantMessage(previous) && !isToolCall(item))
}
