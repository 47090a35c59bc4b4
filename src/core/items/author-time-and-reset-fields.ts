/**
 * Reads and writes an item's gateway fields: author, time, pin, reset. They are stored with the item
 * under `native.backstory` and no model receives them. The object also holds fields that only the gateway
 * sets: a dialect copies known fields from a client by name, so a client cannot set any other.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** At least one of the two is set. */
export interface ItemAuthor {
  readonly id: string | null
  readonly name: string | null
}

export function readGatewayField(item: Item): JsonObject | undefined {
  return item.native?.['backstory']
}

/** Returns a copy of the item with `field` merged into `native.backstory`. */
export function setGatewayField<Kind extends Item>(item: Kind, field: JsonObject): Kind {
  return { ...item, native: { ...item.native, backstory: { ...readGatewayField(item), ...field } } }
}

/** Returns null for an item without an author. The `name` of a chat message is used if no other name is set. */
export function authorOf(item: Item): ItemAuthor | null {
  const { native } = item
  // Most items have no wire-specific data.
  if (native === undefined) return null
  const author = native['backstory']?.['author']
  const { id, name } = (author ?? {}) as JsonObject
  const authorName = name ?? (item.type === 'message' ? native['chat']?.['name'] : null)
  const ids = { id: nonEmpty(id), name: nonEmpty(authorName) }
  return ids.id === null && ids.name === null ? null : ids
}

/** True if `idOrName` is the author's id or name. */
export function matchesAuthor({ id, name }: ItemAuthor, idOrName: string): boolean {
  return id === idOrName || name === idOrName
}

/** Returns seconds since 1970, or null if the client set no time. */
export function readSendTime(item: Item): number | null {
  const sentAt = readGatewayField(item)?.['sent_at']
  return typeof sentAt === 'number' ? sentAt : null
}

/** Excludes items from the prompt: `before`, all earlier items; `behind`, this item as well. */
export type HistoryReset = 'before' | 'behind'

export function readHistoryReset(item: Item): HistoryReset | null {
  const { native } = item
  if (native === undefined) return null
  const reset = native['backstory']?.['reset']
  if (reset === true) return 'before'
  return reset === 'behind' ? 'behind' : null
}

function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
