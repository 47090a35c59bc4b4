/**
 * Rows as turns and items again, which come from the database in any order. Every body is parsed
 * once, and what it holds is what was written. One that cannot be read is left out, and a request that
 * cannot be read is an empty one.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { decodeColumn, decodeNullableColumn } from '../database/escape-column-text.ts'
import type { FieldDigests, StoredTurn, TurnState } from './turn-store-interface.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import type { RowReader } from '../encryption/read-encrypted-rows.ts'

/** What items are read as: the columns that put them in their place, and their text. */
export type ItemBodyRow = Pick<ItemRow, 'turn_id' | 'side' | 'position' | 'body'> & {
  /** Not there where none that is hidden was asked for. */
  readonly hidden?: number
}

/**
 * Lines up the rows of a chain, which come in any order, from the root to `leaf`. A turn whose
 * parent is not among them is the first; in a circle every turn stands once. What a turn's request
 * has in common with its parent's it is given back.
 */
export function decodeTurnChain(
  leaf: string,
  turns: readonly TurnRow[],
  items: readonly ItemBodyRow[],
  reading: RowReader,
): readonly StoredTurn[] {
  const sides = groupItemRows(items)
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

function requestOf(row: TurnRow, before: JsonObject, reading: RowReader): JsonObject {
  const place = { turnId: row.id, part: 'request', position: 0 } as const
  const request = reading.object(row.request, place)
  if (request === null) return {}
  if (row.digests === null) return request
  const inherited = Object.keys(decodeDigests(row, reading)).filter(
    (name) => !Object.hasOwn(request, name) && Object.hasOwn(before, name),
  )
  if (inherited.length === 0) return request
  return { ...request, ...Object.fromEntries(inherited.map((name) => [name, before[name]])) }
}

export function decodeDigests(
  { digests }: Pick<TurnRow, 'digests'>,
  { plain }: RowReader,
): FieldDigests {
  return (plain(digests) ?? {}) as FieldDigests
}

/** Turns by themselves, in the order of their rows: without what their requests share with others. */
export function decodeSeparateTurns(
  turns: readonly TurnRow[],
  items: readonly ItemBodyRow[],
  reading: RowReader,
): readonly StoredTurn[] {
  const sides = groupItemRows(items)
  return turns.map((row) =>
    storedTurn(row, requestOf(row, {}, reading), sides.get(row.id) ?? NO_ITEMS, reading),
  )
}

export interface TurnItemRows {
  readonly in: ItemBodyRow[]
  readonly out: ItemBodyRow[]
}

const NO_ITEMS: TurnItemRows = { in: [], out: [] }

export function groupItemRows(items: readonly ItemBodyRow[]): ReadonlyMap<string, TurnItemRows> {
  const turns = new Map<string, TurnItemRows>()
  for (const row of items) {
    let sides = turns.get(row.turn_id)
    if (sides === undefined) turns.set(row.turn_id, (sides = { in: [], out: [] }))
    sides[row.side].push(row)
  }
  return turns
}

function storedTurn(
  row: TurnRow,
  request: JsonObject,
  sides: TurnItemRows,
  reading: RowReader,
): StoredTurn {
  const origin = decodeOrigin(row)
  const hidden = new Set<Item>()
  const input = decodeItems(sides.in, null, reading, hidden)
  const output = decodeItems(sides.out, origin, reading, hidden)
  const place = { turnId: row.id, part: 'failure', position: 0 } as const
  const failure = row.failure === null ? null : reading.object(row.failure, place)
  const unreadable = sides.in.length + sides.out.length - input.length - output.length
  return {
    ...(unreadable > 0 ? { unreadable } : {}),
    id: decodeColumn(row.id),
    tenant: decodeColumn(row.tenant),
    user: decodeNullableColumn(row.user_id),
    thread: decodeColumn(row.thread),
    parent: decodeNullableColumn(row.parent),
    dialect: row.dialect,
    origin,
    createdAtMs: row.created_at,
    request,
    digests: decodeDigests(row, reading),
    depth: row.depth,
    conversation: decodeNullableColumn(row.conversation),
    metadata: reading.plain(row.metadata),
    background: row.background === 1,
    owner: row.owner,
    deletedAtMs: row.deleted_at,
    state: row.state as TurnState,
    endedAtMs: row.ended_at,
    usage: reading.plain(row.usage) as TokenUsage | null,
    failure: failure as Failure | null,
    finish: row.finish as AnswerFinishReason | null,
    servedModel: decodeNullableColumn(row.served_model),
    contentHash: row.content_hash,
    reasoningRefusedBy: decodeNullableColumn(row.reasoning_refused_by),
    usedAtMs: row.used_at,
    isTemporary: row.short_lived === 1,
    input,
    output,
    hidden,
  }
}

export function decodeOrigin(
  row: Pick<TurnRow, 'wire' | 'account' | 'model' | 'prefix_hash'>,
): Origin {
  return {
    wire: row.wire,
    account: decodeColumn(row.account),
    model: decodeColumn(row.model),
    prefixHash: row.prefix_hash,
  }
}

/** Notes which of the items are hidden. Of an answer's items it is said who made them. */
export function decodeItems(
  rows: readonly ItemBodyRow[],
  origin: Origin | null,
  reading: RowReader,
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

function byPosition(one: ItemBodyRow, other: ItemBodyRow): number {
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
