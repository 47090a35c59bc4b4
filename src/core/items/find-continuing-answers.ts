/**
 * Finds answers that directly follow another answer, because a client asked the model to continue its answer. Some
 * upstreams need a user message between the two answers, which the gateway inserts. Later prompts must contain the
 * same user message, because the model saw it when it wrote the second answer.
 *
 * All items of an answer share one `origin` object. An assistant message without an origin was written or edited
 * by the client. If a message or reasoning with an origin follows it, that item continues the client's text. A tool
 * call after it may belong to the same answer, whose text the client has edited. The call continues another answer
 * only if an item of that answer comes before the text.
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
