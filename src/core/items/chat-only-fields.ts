/**
 * Defines the data of an item that only Chat Completions has, stored under `native.chat`. One chat
 * message can contain several items. Plain names, e.g. `name`, are fields of the message and are sent
 * back in the item's message. Names with `$`, e.g. `$entry`, belong to the item alone.
 */
import type { Item } from '../item.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

export interface ChatOnlyFields extends JsonObject {
  readonly reasoning_details?: readonly Json[]
  /** Name of the field that had the reasoning text, e.g. `reasoning_content`, to send it back there. */
  readonly $field?: string
  /** Extra fields of each content part that the type `Part` does not have. */
  readonly $parts?: readonly (JsonObject | null)[]
  /** Extra fields of the call's entry in `tool_calls`, e.g. `extra_content` with a thought signature. */
  readonly $entry?: JsonObject
  /** True for a call or output of the older `functions` API. */
  readonly $legacy?: boolean
}

const NONE: ChatOnlyFields = {}

/** True for a field of the item, e.g. `$entry`; false for a field of its message, e.g. `name`. */
export function isItemLevelField(name: string): boolean {
  return name.startsWith('$')
}

export function readChatOnlyFields(item: Item): ChatOnlyFields {
  return item.native?.['chat'] ?? NONE
}

/** Returns the fields that belong to the item's message, e.g. `name`; undefined if there are none. */
export function readChatMessageFields(item: Item): JsonObject | undefined {
  const native = item.native?.['chat']
  if (native === undefined) return undefined
  const fields = Object.entries(native).filter(([name]) => !isItemLevelField(name))
  return fields.length > 0 ? Object.fromEntries(fields) : undefined
}

/** Returns the entries of `list` that are objects; an empty list if `list` is not a list. */
export function filterObjects(list: unknown): readonly JsonObject[] {
  if (!Array.isArray(list)) return []
  return list.every(isObject) ? list : list.filter(isObject)
}
