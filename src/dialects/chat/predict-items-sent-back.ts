/**
 * Predicts the items that a chat client will send back for an answer, by rendering the answer as
 * one message and parsing that message.
 */
import type { Item } from '../../core/item.ts'
import { parseMessages } from './parse/parse-messages.ts'
import { renderAssistantMessage } from './render/render-chat-completion.ts'

export function predictItemsSentBack(items: readonly Item[]): readonly Item[] {
  return parseMessages([renderAssistantMessage(items)])
}
