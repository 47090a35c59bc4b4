/**
 * Reads and writes the gateway's own fields of an item, stored under `native.backstory` and never sent
 * to a model. A client may set the author, the time, a pin and a reset. Other fields are set only by the
 * gateway: a dialect copies a client's fields by name, so a client cannot set them.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** The author of an item, by id, by name or both. */
export interface ItemAuthor {
  readonly id: string | null
  readonly name: string | null
}

export function readGatewayFields(item: Item): JsonObject | undefined {
  return item.native?.['backstory']
}

/** Returns a copy of the item with `fields` merged into `native.backstory`. */
export function setGatewayFields<Kind extends Item>(item: Kind, fields: JsonObject): Kind {
  return {
    ...item,
    native: { ...item.native, backstory: { ...readGatewayFields(item), ...fields } },
  }
}

/** Returns the author that the client set, else a chat message's `name` as the author's name; null if there is neither. */
export function readClientGivenAuthor(item: Item): ItemAuthor | null {
  const { native } = item
  // Returns early, because most items have no such data.
  if (native === undefined) return null
  const author = native['backstory']?.['author']
  const { id, name } = (author ?? {}) as JsonObject
  const authorName = name ?? (item.type === 'message' ? native['chat']?.['name'] : null)
  const ids = { id: nonEmpty(id), name: nonEmpty(authorName) }
  return ids.id === null && ids.name === null ? null : ids
}

/** True if `idOrName` is the id or the name of the author. */
export function matchesAuthor({ id, name }: ItemAuthor, idOrName: string): boolean {
  return id === idOrName || name === idOrName
}

/** Returns the time that the client set for the item, in seconds since 1970; null if it set none. */
export function readSendTime(item: Item): number | null {
  const sentAt = readGatewayFields(item)?.['sent_at']
  return typeof sentAt === 'number' ? sentAt : null
}

/**
 * A reset that a client sets on an item. `before` excludes all earlier items from the prompt, and
 * `behind` excludes the item too.
 */
export type HistoryReset = 'before' | 'behind'

export function readHistoryReset(item: Item): HistoryReset | null {
  const reset = readGatewayFields(item)?.['reset']
  if (reset === true) return 'before'
  return reset === 'behind' ? 'behind' : null
}

function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
