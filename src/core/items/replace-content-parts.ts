/**
 * Replaces the content parts of an item. Data of a replaced part in `native.chat.$parts` is removed too,
 * because sending it with the new part would bring the old content back.
 */
import { readChatOnlyFields } from './chat-only-fields.ts'
import type { Item, Part } from '../item.ts'
import type { JsonObject } from '../json/json.ts'
import { listContentParts } from '../media/media-handles.ts'

/** Returns the item with the content parts `parts`; the same item if `parts` is already its list. */
export function replaceContentParts(item: Item, parts: readonly Part[]): Item {
  const before = listContentParts(item)
  if (parts === before) return item
  const { $parts: fields, ...chat } = readChatOnlyFields(item)
  if (fields === undefined) return setContentParts(item, parts)
  // In older versions of the gateway, clients could set `$parts`, so a stored value may have any type.
  const known: readonly (JsonObject | null)[] =
    Array.isArray(fields) && fields.length === parts.length ? fields : []
  const kept = known.map((entry, index) => (parts[index] === before[index] ? entry : null))
  const rest: JsonObject = kept.some((entry) => entry !== null) ? { ...chat, $parts: kept } : chat
  return setContentParts({ ...item, native: { ...item.native, chat: rest } }, parts)
}

/** Returns the item with the content parts `parts`; `native` stays unchanged. */
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
