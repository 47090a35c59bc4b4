/**
 * An item with other parts. What a wire said of the old ones by their place is taken away with them:
 * put to the new ones, it would bring back what they stand for. Of a part that is left where it was,
 * it stays.
 */
import { readChatOnlyFields } from './chat-only-fields.ts'
import type { Item, Part } from '../item.ts'
import type { JsonObject } from '../json/json.ts'
import { listContentParts } from '../media/media-handles.ts'

/** The very same item, if the very same parts. */
export function replaceContentParts(item: Item, parts: readonly Part[]): Item {
  const before = listContentParts(item)
  if (parts === before) return item
  const { $parts: said, ...chat } = readChatOnlyFields(item)
  if (said === undefined) return setContentParts(item, parts)
  // What was kept before such names were refused may hold anything.
  const extras: readonly (JsonObject | null)[] =
    Array.isArray(said) && said.length === parts.length ? said : []
  const left = extras.map((extra, at) => (parts[at] === before[at] ? extra : null))
  const rest: JsonObject = left.some((extra) => extra !== null) ? { ...chat, $parts: left } : chat
  return setContentParts({ ...item, native: { ...item.native, chat: rest } }, parts)
}

/** With all that a wire said of the old ones. */
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
