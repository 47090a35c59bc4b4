/** An answer as its client will send it back: the items that the one message it was shown becomes. */
import type { Item } from '../../core/item.ts'
import { parseMessages } from './parse/parse-messages.ts'
import { renderAssistantMessage } from './render/render-chat-completion.ts'

export function predictItemsSentBack(items: readonly Item[]): readonly Item[] {
  return parseMessages([renderAssistantMessage(items)])
}
