/**
 * Defines the data of an item that only Chat Completions has, stored under `native.chat`. Plain names
 * are fields of the message that the item came in (`name`, `reasoning_details`) and are added to the
 * message that the item is sent in. Names that start with `$` belong to the item alone.
 */
import type { Item } from '../item.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

export interface ChatOnlyFields extends JsonObject {
  readonly reasoning_details?: readonly Json[]
  /** Name of the field with a reasoning's text, e.g. `reasoning_content`; it is sent back under the same name. */
  readonly $field?: string
  /** Fields of content parts that `Part` does not declare, by index. */
  readonly $parts?: readonly (JsonObject | null)[]
  /** Extra fields of the entry in `tool_calls`, e.g. `extra_content` with a thought signature. */
  readonly $entry?: JsonObject
  /** True for a call or output of the older `functions` API. */
  readonly $legacy?: boolean
}

const NONE: ChatOnlyFields = {}

/** True for a name that only the gateway sets. */
export function isItemLevelField(name: string): boolean {
  return name.startsWith('$')
}

export function readChatOnlyFields(item: Item): ChatOnlyFields {
  return item.native?.['chat'] ?? NONE
}

/** Returns only the fields of the message; undefined if there are none, which is the usual case. */
export function readChatMessageFields(item: Item): JsonObject | undefined {
  const native = item.native?.['chat']
  if (native === undefined) return undefined
  const fields = Object.entries(native).filter(([name]) => !isItemLevelField(name))
  return fields.length > 0 ? Object.fromEntries(fields) : undefined
}

/** Returns the list entries that are objects. */
export function filterObjects(list: unknown): readonly JsonObject[] {
  if (!Array.isArray(list)) return []
  return list.every(isObject) ? list : list.filter(isObject)
}
