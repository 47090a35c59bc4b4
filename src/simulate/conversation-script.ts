/**
 * Divides a conversation into exchanges that can be simulated: the new items of each request, and
 * the model's answer. `simulate-conversation.ts` then computes the requests that a policy would
 * have sent.
 */
import type { Item } from '../core/item.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'

export interface ConversationScript {
  readonly name: string
  readonly exchanges: readonly ScriptExchange[]
}

export interface ScriptExchange {
  /**
   * Items that the request adds to the conversation, e.g. a question or tool outputs; empty if the
   * conversation begins with an answer.
   */
  readonly newItems: readonly Item[]
  /** The model's answer; empty if the conversation ends with a question. */
  readonly answer: readonly Item[]
}

/**
 * Divides a conversation into exchanges of a request and an answer. Consecutive model-made items
 * are one answer.
 */
export function createScriptFromItems(name: string, items: readonly Item[]): ConversationScript {
  const exchanges: { newItems: Item[]; answer: Item[] }[] = []
  let current: { newItems: Item[]; answer: Item[] } | null = null
  for (const item of items) {
    const isAnswer = isItemOfAnswer(item)
    if (current === null || (!isAnswer && current.answer.length > 0)) {
      current = { newItems: [], answer: [] }
      exchanges.push(current)
    }
    current[isAnswer ? 'answer' : 'newItems'].push(item)
  }
  return { name, exchanges }
}
