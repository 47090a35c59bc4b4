/**
 * Splits a conversation into exchanges that can be simulated: the new items of each request, and the
 * model's answer. `simulate-conversation.ts` computes what a policy would have sent each time.
 */
import type { Item } from '../core/item.ts'
import { isModelItem } from '../core/items/is-model-item.ts'

export interface ConversationScript {
  readonly name: string
  readonly exchanges: readonly ScriptExchange[]
}

export interface ScriptExchange {
  /** New items of the request: a question, tool outputs. */
  readonly asked: readonly Item[]
  /** Empty if the conversation ends with a question. */
  readonly answer: readonly Item[]
}

/** Treats consecutive model items as one answer. */
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
