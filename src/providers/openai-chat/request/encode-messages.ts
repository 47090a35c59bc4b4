/**
 * A conversation as chat messages, instructions in front. An answer that was continued stays a message
 * of its own, as it was sent then, with what the user was made to say behind it.
 */
import { continuations } from '../../../core/items/find-consecutive-answers.ts'
import { isToldInPlace } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import { encodeAssistant } from './encode-assistant-message.ts'
import { encodeSaid } from './encode-input-message.ts'
import { inRightOrder, requestToGoOn } from './apply-message-order-rules.ts'
import type { Encoding } from './encoding-context.ts'
import type { ChatQuirks } from '../quirks.ts'
import { turnsOf } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

export function encodeMessages(
  items: readonly Item[],
  instructions: string | null,
  encoding: Encoding,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  const toldInPlace = new Set<ChatMessage>()
  if (instructions !== null) messages.push({ role: 'system', content: instructions })
  const { quirks } = encoding.options
  for (const turn of turnsOf(items, bordersIn(items, quirks), encoding.notebook)) {
    if (turn.type === 'said') {
      const message = encodeSaid(turn, encoding)
      messages.push(message)
      if (isToldInPlace(turn.item)) toldInPlace.add(message)
    } else if (turn.type === 'assistant') messages.push(...encodeAssistant(turn, encoding))
    else messages.push(...requestToGoOn(messages, quirks, encoding.notebook))
  }
  return inRightOrder(messages, toldInPlace, quirks, encoding.notebook)
}

/** A marked message and what its upstream went on with are one. */
function bordersIn(items: readonly Item[], quirks: ChatQuirks): ReadonlySet<number> {
  return new Set(quirks.prefixCompletion === true ? [] : continuations(items))
}
