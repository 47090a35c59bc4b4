/** Creates turns and items to store, with ids that no other test uses. */
import { randomBytes } from 'node:crypto'
import type { Item, Message, Origin } from '../../src/core/item.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import type { NewTurn, PlacedItem, TurnEnding } from '../../src/store/turns/turn-store-interface.ts'

export function newId(): string {
  return randomBytes(10).toString('hex').toUpperCase()
}

export const ORIGIN: Origin = {
  wire: 'anthropic',
  account: 'main',
  model: 'claude',
  prefixHash: 'p1',
}

/** The owner of turns by default. */
export const OWNER: Caller = { tenant: 'tenant', user: null }
export const STRANGER: Caller = { tenant: 'other', user: null }

export function newTurn(fields: Partial<NewTurn> = {}): NewTurn {
  const id = fields.id ?? newId()
  return {
    id,
    ...OWNER,
    thread: id,
    parent: null,
    depth: 0,
    conversation: null,
    background: false,
    replicaId: null,
    dialect: 'responses',
    origin: ORIGIN,
    createdAtMs: 1_795_000_000_123,
    request: {},
    input: [],
    ...fields,
  }
}

/** Creates a turn that follows `parent`. */
export function nextTurn(parent: NewTurn, fields: Partial<NewTurn> = {}): NewTurn {
  const { tenant, user, thread, id } = parent
  return newTurn({ tenant, user, thread, parent: id, ...fields })
}

export function createEnding(turn: NewTurn, fields: Partial<TurnEnding> = {}): TurnEnding {
  return {
    turnId: turn.id,
    tenant: turn.tenant,
    user: turn.user,
    state: 'complete',
    origin: turn.origin,
    endedAtMs: 1_795_000_009_999,
    usage: null,
    failure: null,
    items: [],
    ...fields,
  }
}

export function user(text: string): Message {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

export function assistant(text: string): Message {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

export function numberItems(items: readonly Item[], from = 0): readonly PlacedItem[] {
  return items.map((item, at) => ({ position: from + at, item }))
}

/** Serializes items, because objects that a test compares as equal may differ in their bytes. */
export function serializeItems(items: readonly Item[]): readonly string[] {
  return items.map((item) => JSON.stringify({ ...item, origin: undefined }))
}
