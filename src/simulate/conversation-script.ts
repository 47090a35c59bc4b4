/**
 * A conversation as it can be played again: what was asked, and what the model answered to it, once
 * for every request. What a policy would have sent each time is found out by playing (`simulate-conversation.ts`).
 */
import type { Item } from '../core/item.ts'
import { isModelItem } from '../core/items/is-model-item.ts'

export interface ConversationScript {
  readonly name: string
  readonly exchanges: readonly ScriptExchange[]
}

export interface ScriptExchange {
  /** What is new in the request: a question, the outputs of tools. */
  readonly asked: readonly Item[]
  /** Nothing, if the conversation ends with a question. */
  readonly answer: readonly Item[]
}

/** What the model made without a word in between was one answer. */
export function splitIntoScript(name: string, items: readonly Item[]): ConversationScript {
  const exchanges: { asked: Item[]; answer: Item[] }[] = []
  let current: { asked: Item[]; answer: Item[] } | null = null
  for (const item of items) {
    const isAnswer = isModelItem(item)
    if (current === null || (!isAnswer && current.answer.length > 0)) {
      current = { asked: [], answer: [] }
      exchanges.push(current)
    }
    current[isAnswer ? 'answer' : 'asked'].push(item)
  }
  return { name, exchanges }
}
