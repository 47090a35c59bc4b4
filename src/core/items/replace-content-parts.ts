/**
 * Replaces the content parts of an item. Wire-specific data of a part (`native.chat.$parts`) is
 * removed together with the part: sent with a new part, it would restore the old content.
 */
import { readChatOnlyFields } from './chat-only-fields.ts'
import type { Item, Part } from '../item.ts'
import type { JsonObject } from '../json/json.ts'
import { listContentParts } from '../media/media-handles.ts'

/** Returns the same item if the parts are the same list. */
export function replaceContentParts(item: Item, parts: readonly Part[]): Item {
  const before = listContentParts(item)
  if (parts === before) return item
  const { $parts: fields, ...chat } = readChatOnlyFields(item)
  if (fields === undefined) return setContentParts(item, parts)
  // Rows of older versions may contain anything here, because a client could set the field.
  const known: readonly (JsonObject | null)[] =
    Array.isArray(fields) && fields.length === parts.length ? fields : []
  const kept = known.map((entry, index) => (parts[index] === before[index] ? entry : null))
  const rest: JsonObject = kept.some((entry) => entry !== null) ? { ...chat, $parts: kept } : chat
  return setContentParts({ ...item, native: { ...item.native, chat: rest } }, parts)
}

/** Replaces the parts and keeps all wire-specific data. */
export function setContentParts(item: Item, parts: readonly Part[]): Item {
  switch (item.type) {
    case 'message':
      return { ...item, content: parts }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...item, output: parts }
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
    case 'opaque':
      return item
  }
}
