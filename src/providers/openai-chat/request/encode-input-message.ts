/** Encodes a system, developer or user message. */
import { readChatOnlyFields, readChatMessageFields } from '../../../core/items/chat-only-fields.ts'
import type { Message } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { encodeContent, isMediaPart } from './encode-parts.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { PositionedItem } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

export function encodeInputMessage(
  message: PositionedItem<Message>,
  encoding: EncodingContext,
): ChatMessage {
  const { itemIndex, item } = message
  const { options, notes } = encoding
  const content =
    item.role === 'user' ? item.content : item.content.filter((part) => !isMediaPart(part))
  if (content.length < item.content.length) notes.write('media-in-system', { itemIndex })
  const isSentAsSystem = item.role === 'developer' && !options.developerRole
  if (isSentAsSystem) notes.write('developer-as-system', { itemIndex })
  return {
    role: isSentAsSystem ? 'system' : item.role,
    ...selectMessageFields(message, encoding),
    content: encodeContent(content, {
      itemIndex,
      notes,
      partFields: readChatOnlyFields(item).$parts,
    }),
  }
}

/**
 * Returns the fields of a message that only Chat Completions has, e.g. `name`, unless the upstream
 * rejects them.
 */
export function selectMessageFields(
  { itemIndex, item }: PositionedItem<Message>,
  { options, notes }: EncodingContext,
): JsonObject | undefined {
  const fields = readChatMessageFields(item)
  if (fields?.['name'] === undefined || options.quirks.messageNames !== false) return fields
  notes.write('name-not-sent', { itemIndex })
  const { name: _name, ...rest } = fields
  return rest
}
