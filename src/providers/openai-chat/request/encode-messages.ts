/**
 * Encodes a conversation as chat messages, beginning with the instructions. If the model continued
 * its own answer, both parts of the answer stay separate messages, with the message that asked it
 * to continue between them, because the upstream received them in this form before.
 */
import { findContinuingAnswers } from '../../../core/items/find-continuing-answers.ts'
import { isInsertedInstruction } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import { encodeAssistantMessage } from './encode-assistant-message.ts'
import { encodeInputMessage } from './encode-input-message.ts'
import { applyMessageOrderRules, createContinuationRequest } from './apply-message-order-rules.ts'
import type { EncodingContext } from './encoding-context.ts'
import { groupItemsIntoMessages } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

export function encodeMessages(
  items: readonly Item[],
  instructions: string | null,
  encoding: EncodingContext,
): readonly ChatMessage[] {
  const { notes } = encoding
  const { quirks } = encoding.options
  const messages: ChatMessage[] = []
  const insertedInstructions = new Set<ChatMessage>()
  if (instructions !== null) messages.push({ role: 'system', content: instructions })
  // With `prefixCompletion`, the upstream itself continued the message, so both parts of the answer
  // are one message.
  const continuations = quirks.prefixCompletion === true ? [] : findContinuingAnswers(items)
  for (const group of groupItemsIntoMessages(items, new Set(continuations), notes)) {
    if (group.type === 'input') {
      const message = encodeInputMessage(group, encoding)
      messages.push(message)
      if (isInsertedInstruction(group.item)) insertedInstructions.add(message)
    } else if (group.type === 'assistant') messages.push(...encodeAssistantMessage(group, encoding))
    else messages.push(...createContinuationRequest(messages, quirks, notes))
  }
  return applyMessageOrderRules(messages, insertedInstructions, quirks, notes)
}
