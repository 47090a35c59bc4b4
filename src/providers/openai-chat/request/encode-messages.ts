/**
 * A conversation as chat messages, instructions in front. An answer that was continued stays a message
 * of its own, as it was sent then, with what the user was made to say behind it.
 */
import { findConsecutiveAnswers } from '../../../core/items/find-consecutive-answers.ts'
import { isInsertedInstruction } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import { encodeAssistantMessage } from './encode-assistant-message.ts'
import { encodeInputMessage } from './encode-input-message.ts'
import { applyMessageOrderRules, createContinuationRequest } from './apply-message-order-rules.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { ChatQuirks } from '../quirks.ts'
import { groupItemsIntoMessages } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

export function encodeMessages(
  items: readonly Item[],
  instructions: string | null,
  encoding: EncodingContext,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  const toldInPlace = new Set<ChatMessage>()
  if (instructions !== null) messages.push({ role: 'system', content: instructions })
  const { quirks } = encoding.options
  for (const turn of groupItemsIntoMessages(
    items,
    findAnswerBorders(items, quirks),
    encoding.notes,
  )) {
    if (turn.type === 'said') {
      const message = encodeInputMessage(turn, encoding)
      messages.push(message)
      if (isInsertedInstruction(turn.item)) toldInPlace.add(message)
    } else if (turn.type === 'assistant') messages.push(...encodeAssistantMessage(turn, encoding))
    else messages.push(...createContinuationRequest(messages, quirks, encoding.notes))
  }
  return applyMessageOrderRules(messages, toldInPlace, quirks, encoding.notes)
}

/** A marked message and what its upstream went on with are one. */
function findAnswerBorders(items: readonly Item[], quirks: ChatQuirks): ReadonlySet<number> {
  return new Set(quirks.prefixCompletion === true ? [] : findConsecutiveAnswers(items))
}
