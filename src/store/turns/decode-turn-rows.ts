/**
 * Rows as turns and items again, which come from the database in any order. Every body is parsed
 * once, and what it holds is what was written. One that cannot be read is left out, and a request that
 * cannot be read is an empty one.
 */
import type { Failure, Finish, Usage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { fromColumn, fromMaybeColumn } from '../database/escape-column-text.ts'
import type { Digests, StoredTurn, TurnState } from './turn-store-interface.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import type { Reading } from '../encryption/read-encrypted-rows.ts'

/** What items are read as: the columns that put them in their place, and their text. */
export type PlacedRow = Pick<ItemRow, 'turn_id' | 'side' | 'position' | 'body'> & {
  /** Not there where none that is hidden was asked for. */
  readonly hidden?: number
}

/**
 * Lines up the rows of a chain, which come in any order, from the root to `leaf`. A turn whose
 * parent is not among them is the first; in a circle every turn stands once. What a turn's request
 * has in common with its parent's it is given back.
 */
export function storedTurns(
  leaf: string,
  turns: readonly TurnRow[],
  items: readonly PlacedRow[],
  reading: Reading,
): readonly StoredTurn[] {
  const sides = sidesOf(items)
  const remaining = new Map(turns.map((turn) => [turn.id, turn]))
  const line: TurnRow[] = []
  for (let row = remaining.get(leaf); row !== undefined;) {
    remaining.delete(row.id)
    line.push(row)
    row = row.parent === null ? undefined : remaining.get(row.parent)
  }
  const chain: StoredTurn[] = []
  for (const row of line.toReversed()) {
    const request = requestOf(row, chain.at(-1)?.request ?? {}, reading)
    chain.push(storedTurn(row, request, sides.get(row.id) ?? NO_ITEMS, reading))
  }
  return chain
}

function requestOf(row: TurnRow, before: JsonObject, reading: Reading): JsonObject {
  const place = { turnId: row.id, part: 'request', position: 0 } as const
  const request = reading.object(row.request, place)
  if (request === null) return {}
  if (row.digests === null) return request
  const inherited = Object.keys(digestsOf(row, reading)).filter(
    (name) => !Object.hasOwn(request, name) && Object.hasOwn(before, name),
  )
  if (inherited.length === 0) return request
  return { ...request, ...Object.fromEntries(inherited.map((name) => [name, before[name]])) }
}

export function digestsOf({ digests }: Pick<TurnRow, 'digests'>, { plain }: Reading): Digests {
  return (plain(digests) ?? {}) as Digests
}

/** Turns by themselves, in the order of their rows: without what their requests share with others. */
export function loneTurns(
  turns: readonly TurnRow[],
  items: readonly PlacedRow[],
  reading: Reading,
): readonly StoredTurn[] {
  const sides = sidesOf(items)
  return turns.map((row) =>
    storedTurn(row, requestOf(row, {}, reading), sides.get(row.id) ?? NO_ITEMS, reading),
  )
}

export interface Sides {
  readonly in: PlacedRow[]
  readonly out: PlacedRow[]
}

const NO_ITEMS: Sides = { in: [], out: [] }

export function sidesOf(items: readonly PlacedRow[]): ReadonlyMap<string, Sides> {
  const turns = new Map<string, Sides>()
  for (const row of items) {
    let sides = turns.get(row.turn_id)
    if (sides === undefined) turns.set(row.turn_id, (sides = { in: [], out: [] }))
    sides[row.side].push(row)
  }
  return turns
}

function storedTurn(row: TurnRow, request: JsonObject, sides: Sides, reading: Reading): StoredTurn {
  const origin = originOf(row)
  const hidden = new Set<Item>()
  const input = inOrder(sides.in, null, reading, hidden)
  const output = inOrder(sides.out, origin, reading, hidden)
  const place = { turnId: row.id, part: 'failure', position: 0 } as const
  const failure = row.failure === null ? null : reading.object(row.failure, place)
  const unreadable = sides.in.length + sides.out.length - input.length - output.length
  return {
    ...(unreadable > 0 ? { unreadable } : {}),
    id: fromColumn(row.id),
    tenant: fromColumn(row.tenant),
    user: fromMaybeColumn(row.user_id),
    thread: fromColumn(row.thread),
    parent: fromMaybeColumn(row.parent),
    dialect: row.dialect,
    origin,
    createdAtMs: row.created_at,
    request,
    digests: digestsOf(row, reading),
    depth: row.depth,
    conversation: fromMaybeColumn(row.conversation),
    metadata: reading.plain(row.metadata),
    background: row.background === 1,
    owner: row.owner,
    deletedAtMs: row.deleted_at,
    state: row.state as TurnState,
    endedAtMs: row.ended_at,
    usage: reading.plain(row.usage) as Usage | null,
    failure: failure as Failure | null,
    finish: row.finish as Finish | null,
    servedModel: fromMaybeColumn(row.served_model),
    contentHash: row.content_hash,
    reasoningRefusedBy: fromMaybeColumn(row.reasoning_refused_by),
    usedAtMs: row.used_at,
    isTemporary: row.short_lived === 1,
    input,
    output,
    hidden,
  }
}

export function originOf(row: Pick<TurnRow, 'wire' | 'account' | 'model' | 'prefix_hash'>): Origin {
  return {
    wire: row.wire,
    account: fromColumn(row.account),
    model: fromColumn(row.model),
    prefixHash: row.prefix_hash,
  }
}

/** Notes which of the items are hidden. Of an answer's items it is said who made them. */
export function inOrder(
  rows: readonly PlacedRow[],
  origin: Origin | null,
  reading: Reading,
  hidden: Set<Item> | null = null,
): Item[] {
  const shared = oneOfEach()
  const items: Item[] = []
  for (const row of rows.toSorted(byPosition)) {
    const { turn_id: turnId, side: part, position } = row
    // Nobody else has it yet.
    const item = reading.object(row.body, { turnId, part, position }) as Writable<Item> | null
    if (item === null) continue
    const own = origin ?? shared(item.origin)
    if (own !== undefined) item.origin = own
    if (row.hidden === 1) hidden?.add(item)
    items.push(item)
  }
  return items
}

function byPosition(one: PlacedRow, other: PlacedRow): number {
  return one.position - other.position
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** The items of one answer share one origin, as they did when it was told. */
function oneOfEach(): (origin: Origin | undefined) => Origin | undefined {
  let last: Origin | undefined
  return (origin) => {
    if (origin === undefined || !isSame(origin, last)) last = origin
    return last
  }
}

function isSame(one: Origin, other: Origin | undefined): boolean {
  return (
    other !== undefined &&
    one.wire === other.wire &&
    one.account === other.account &&
    one.model === other.model &&
    one.prefixHash === other.prefixHash
  )
}
