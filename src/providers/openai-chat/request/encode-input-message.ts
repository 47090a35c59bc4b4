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
  const { at, item } = message
  const { notes } = encoding
  const content =
    item.role === 'user' ? item.content : item.content.filter((part) => !isMediaPart(part))
  if (content.length < item.content.length) notes.write('media-in-system', { at })
  return {
    role: chooseRole(message, encoding),
    ...selectMessageFields(message, encoding),
    content: encodeContent(content, { at, notes, partFields: readChatOnlyFields(item).$parts }),
  }
}

/**
 * Returns the fields of a message that only Chat Completions has, e.g. `name`, if the upstream
 * accepts them.
 */
export function selectMessageFields(
  { at, item }: PositionedItem<Message>,
  { options, notes }: EncodingContext,
): JsonObject | undefined {
  const fields = readChatMessageFields(item)
  if (fields?.['name'] === undefined || options.quirks.messageNames !== false) return fields
  notes.write('name-not-sent', { at })
  const { name: _name, ...rest } = fields
  return rest
}

function chooseRole(
  { at, item }: PositionedItem<Message>,
  { options, notes }: EncodingContext,
): string {
  if (item.role !== 'developer' || options.developerRole) return item.role
  notes.write('developer-as-system', { at })
  return 'system'
}
