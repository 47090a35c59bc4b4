/**
 * What Chat Completions says of an item beyond the waist, kept under `native.chat`. Plain names are
 * fields of the message that the item came in (`name`, `reasoning_details`, …) and go back into the
 * message that the item becomes. Names with a `$` are about the item alone.
 */
import type { Item } from '../item.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

export interface ChatOnlyFields extends JsonObject {
  readonly reasoning_details?: readonly Json[]
  /** The field in which a client sent a reasoning's text; it goes back under the same name. */
  readonly $field?: string
  /** Fields of the content parts that the waist has no word for, by place. */
  readonly $parts?: readonly (JsonObject | null)[]
  /** Fields of the entry in `tool_calls`: `extra_content` with a thought signature, for one. */
  readonly $entry?: JsonObject
  /** A call made or answered in the way of `functions`, before there were tools. */
  readonly $legacy?: boolean
}

const NONE: ChatOnlyFields = {}

/** Whether it is a word of ours, which is not for a client to say. */
export function isItemLevelField(name: string): boolean {
  return name.startsWith('$')
}

export function readChatOnlyFields(item: Item): ChatOnlyFields {
  return item.native?.['chat'] ?? NONE
}

/** The fields of the message alone; `undefined` if there are none, which is nearly always. */
export function readChatMessageFields(item: Item): JsonObject | undefined {
  const native = item.native?.['chat']
  if (native === undefined) return undefined
  const fields = Object.entries(native).filter(([name]) => !isItemLevelField(name))
  return fields.length > 0 ? Object.fromEntries(fields) : undefined
}

/** The entries of a list that are objects, whatever else it holds. */
export function filterObjects(list: unknown): readonly JsonObject[] {
  if (!Array.isArray(list)) return []
  return list.every(isObject) ? list : list.filter(isObject)
}
