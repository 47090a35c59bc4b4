/**
 * Finds answers that directly follow another answer, because a client asked the model to continue it.
 * For some upstreams, the gateway inserts a user message with this request between the two answers. The
 * second answer is generated after the inserted message, so every later prompt needs the message there too.
 *
 * All items of an answer share one `origin` object. An assistant message without an origin is text that the
 * client wrote or edited. A message or reasoning with a new origin after such a text continues it. A tool call
 * does not, because the text may be an edited part of the call's own answer; only if an item of another answer
 * comes before the text does the call continue that answer.
 */
import { isItemOfAnswer } from './is-item-of-answer.ts'
import { isToolCallOutput } from './tool-call-pairs.ts'
import { affectsAllLaterItems, isAssistantMessage } from './rounds-and-pinned-items.ts'
import { isToolCall, type Item, type Origin } from '../item.ts'

/** Returns the index of the first item of each answer that directly follows another one. */
export function findContinuingAnswers(items: readonly Item[]): readonly number[] {
  const startedAnswers = new Set<Origin>()
  const indexes: number[] = []
  let previous: Item | null = null
  /** True if an answer's item comes before this one, without a tool output or a user message in between. */
  let followsAnswer = false
  for (const [index, item] of items.entries()) {
    const { origin } = item
    if (origin !== undefined && !startedAnswers.has(origin)) {
      startedAnswers.add(origin)
      const continues = previous !== null && (followsAnswer || continuesAnswer(previous, item))
      if (continues && isAnswerItemExceptCompaction(item)) indexes.push(index)
    }
    previous = isAnswerItemExceptCompaction(item) ? item : null
    // The output of a gateway tool does not end the answer: the text after it belongs to the same answer.
    followsAnswer =
      previous !== null && !isToolCallOutput(item) && (followsAnswer || origin !== undefined)
  }
  return indexes
}

/** False for an item that separates two answers, e.g. a user message, a client's tool output or a compaction. */
function isAnswerItemExceptCompaction(item: Item): boolean {
  return isItemOfAnswer(item) && !affectsAllLaterItems(item)
}

function continuesAnswer(previous: Item, item: Item): boolean {
  return previous.origin !== undefined || (isAssistantMessage(previous) && !isToolCall(item))
}
