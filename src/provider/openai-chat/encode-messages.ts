/** A conversation as chat messages, instructions in front. */
import type { Item } from '../../conversation/item.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { encodeSaid } from './encode-said.ts'
import { inRightOrder } from './message-rules.ts'
import type { Encoding } from './options.ts'
import { turnsOf } from './turns.ts'
import type { ChatMessage } from './wire.ts'

export function encodeMessages(
  items: readonly Item[],
  instructions: string | null,
  encoding: Encoding,
): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  if (instructions !== null) messages.push({ role: 'system', content: instructions })
  for (const turn of turnsOf(items, encoding.notebook)) {
    if (turn.type === 'said') messages.push(encodeSaid(turn, encoding))
    else messages.push(...encodeAssistant(turn, encoding))
  }
  return inRightOrder(messages, encoding.options.quirks, encoding.notebook)
}
