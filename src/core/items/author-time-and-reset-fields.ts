/**
 * What a client says of an item for the gateway alone: who has said it, that it is to stay, that
 * nothing before it counts any more. It is kept with the item under `native.backstory`, and no model
 * is told. Beside it stand words of our own, which no client can say: a dialect takes over the fields
 * that it knows by name, and nothing else.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

/** At least one of id and name is there. */
export interface ItemAuthor {
  readonly id: string | null
  readonly name: string | null
}

export function readGatewayField(item: Item): JsonObject | undefined {
  return item.native?.['backstory']
}

/** The same item with more said of it. */
export function setGatewayField<Kind extends Item>(item: Kind, field: JsonObject): Kind {
  return { ...item, native: { ...item.native, backstory: { ...readGatewayField(item), ...field } } }
}

/** `null` where nobody is named. Chat's own `name` names who is not named otherwise. */
export function authorOf(item: Item): ItemAuthor | null {
  const { native } = item
  // Nearly all items end here.
  if (native === undefined) return null
  const author = native['backstory']?.['author']
  const { id, name } = (author ?? {}) as JsonObject
  const said = name ?? (item.type === 'message' ? native['chat']?.['name'] : null)
  const found = { id: nonEmpty(id), name: nonEmpty(said) }
  return found.id === null && found.name === null ? null : found
}

/** Whether somebody is who is meant by an id or a name. */
export function matchesAuthor({ id, name }: ItemAuthor, who: string): boolean {
  return id === who || name === who
}

/** Seconds since 1970; `null` where nobody says when. */
export function sentAtOf(item: Item): number | null {
  const sentAt = readGatewayField(item)?.['sent_at']
  return typeof sentAt === 'number' ? sentAt : null
}

/** Nothing that stands before a conversation's reset is replayed: not before this item, or not it either. */
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
