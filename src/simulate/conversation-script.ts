/**
 * Splits a conversation into exchanges that can be simulated: the new items of each request, and the
 * model's answer. `simulate-conversation.ts` then computes the requests that a policy would have
 * sent.
 */
import type { Item } from '../core/item.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'

export interface ConversationScript {
  readonly name: string
  readonly exchanges: readonly ScriptExchange[]
}

export interface ScriptExchange {
  /** The new items of the request: a question, or tool outputs. */
  readonly newItems: readonly Item[]
  /** The model's answer; empty if the conversation ends with a question. */
  readonly answer: readonly Item[]
}

/** Splits a conversation into exchanges. Consecutive model-made items are one answer. */
export function splitIntoScript(name: string, items: readonly Item[]): ConversationScript {
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
