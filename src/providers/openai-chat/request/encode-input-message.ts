/** A message of the system, the developer or the user. */
import { chatNative, messageFields } from '../../../core/items/chat-only-fields.ts'
import type { Message } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { encodeContent, isMedia } from './encode-parts.ts'
import type { Encoding } from './encoding-context.ts'
import type { Placed } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'

export function encodeSaid(said: Placed<Message>, encoding: Encoding): ChatMessage {
  const { at, item } = said
  const { notebook } = encoding
  const content =
    item.role === 'user' ? item.content : item.content.filter((part) => !isMedia(part))
  if (content.length < item.content.length) notebook.write('media-in-system', { at })
  return {
    role: roleOf(said, encoding),
    ...sentFields(said, encoding),
    content: encodeContent(content, { at, notebook, extras: chatNative(item).$parts }),
  }
}

/** What chat has to say of a message beyond the waist, as far as the upstream takes it. */
export function sentFields(
  { at, item }: Placed<Message>,
  { options, notebook }: Encoding,
): JsonObject | undefined {
  const fields = messageFields(item)
  if (fields?.['name'] === undefined || options.quirks.messageNames !== false) return fields
  notebook.write('name-not-sent', { at })
  const { name: _name, ...rest } = fields
  return rest
}

function roleOf({ at, item }: Placed<Message>, { options, notebook }: Encoding): string {
  if (item.role !== 'developer' || options.developerRole) return item.role
  notebook.write('developer-as-system', { at })
  return 'system'
}
