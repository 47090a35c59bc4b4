/**
 * Turns and items as rows, and back. An item's text is the JSON of the item and nothing else, so
 * what nobody understands survives; beside it stand the few columns that it is looked up by.
 */
import type { Failure, Finish, Usage } from '../conversation/event.ts'
import type { Item, Origin } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import { fromColumn, toColumn, toKeyColumn } from './column.ts'
import type { Digests, NewTurn, PlacedItem, StoredTurn, TurnEnding, TurnState } from './store.ts'
import type { ItemRow, TurnRow } from './tables.ts'

export function turnRow(turn: NewTurn): TurnRow {
  return {
    id: toColumn(turn.id),
    tenant: toColumn(turn.tenant),
    user_id: toMaybeColumn(turn.user),
    thread: toColumn(turn.thread),
    parent: toMaybeColumn(turn.parent),
    dialect: turn.dialect,
    wire: turn.origin.wire,
    account: toColumn(turn.origin.account),
    model: toColumn(turn.origin.model),
    prefix_hash: turn.origin.prefixHash,
    state: turn.background ? 'queued' : 'open',
    created_at: turn.createdAtMs,
    ended_at: null,
    usage: null,
    failure: null,
    request: JSON.stringify(turn.request),
    depth: turn.depth,
    conversation: toMaybeColumn(turn.conversation),
    metadata: jsonOrNull(turn.metadata),
    background: turn.background ? 1 : 0,
    owner: turn.owner,
    deleted_at: null,
    finish: null,
    served_model: null,
    digests: jsonOrNull(turn.digests),
    content_hash: null,
  }
}

function toMaybeColumn(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : toColumn(text)
}

function jsonOrNull(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

export type TurnRowEnding = Pick<
  TurnRow,
  | 'id'
  | 'tenant'
  | 'state'
  | 'wire'
  | 'account'
  | 'model'
  | 'ended_at'
  | 'usage'
  | 'failure'
  | 'finish'
  | 'served_model'
  | 'content_hash'
>

export function endingRow(ending: TurnEnding): TurnRowEnding {
  return {
    id: toColumn(ending.turnId),
    tenant: toColumn(ending.tenant),
    state: ending.state,
    wire: ending.origin.wire,
    account: toColumn(ending.origin.account),
    model: toColumn(ending.origin.model),
    ended_at: ending.endedAtMs,
    usage: jsonOrNull(ending.usage),
    failure: jsonOrNull(ending.failure),
    finish: ending.finish ?? null,
    served_model: toMaybeColumn(ending.servedModel),
    content_hash: ending.contentHash ?? null,
  }
}

export function inputRows({ id, tenant, input }: NewTurn): readonly ItemRow[] {
  const turn = { id: toColumn(id), tenant: toColumn(tenant) }
  return input.map((item, position) => itemRow(turn, 'in', position, item))
}

export function outputRows(
  turnId: string,
  tenant: string,
  items: readonly PlacedItem[],
): readonly ItemRow[] {
  const turn = { id: toColumn(turnId), tenant: toColumn(tenant) }
  return items.map(({ position, item }) => itemRow(turn, 'out', position, item))
}

function itemRow(
  turn: { readonly id: string; readonly tenant: string },
  side: ItemRow['side'],
  position: number,
  item: Item,
): ItemRow {
  const { origin: _, ...body } = item
  // What only a wire understands is looked up by the names that the wire gave it.
  const names: JsonObject = item.type === 'opaque' ? item.raw : (body as JsonObject)
  return {
    turn_id: turn.id,
    tenant: turn.tenant,
    side,
    position,
    item_id: toKeyColumn(item.id ?? names['id']),
    type: toKeyColumn(names['type']) ?? item.type,
    call_id: toKeyColumn(names['call_id']),
    body: JSON.stringify(body),
  }
}

/** What a chain's items are read as: the columns that put them in their place, and their text. */
export type PlacedRow = Pick<ItemRow, 'turn_id' | 'side' | 'position' | 'body'> & {
  readonly hidden: number
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
    const request = requestOf(row, chain.at(-1)?.request ?? {})
    chain.push(storedTurn(row, request, sides.get(row.id) ?? NO_ITEMS))
  }
  return chain
}

function requestOf(row: TurnRow, before: JsonObject): JsonObject {
  const request = JSON.parse(row.request) as JsonObject
  if (row.digests === null) return request
  const inherited = Object.keys(digestsOf(row)).filter(
    (name) => !Object.hasOwn(request, name) && Object.hasOwn(before, name),
  )
  if (inherited.length === 0) return request
  return { ...request, ...Object.fromEntries(inherited.map((name) => [name, before[name]])) }
}

export function digestsOf({ digests }: Pick<TurnRow, 'digests'>): Digests {
  return digests === null ? {} : (JSON.parse(digests) as Digests)
}

/** Turns by themselves, in the order of their rows: without what their requests share with others. */
export function loneTurns(
  turns: readonly TurnRow[],
  items: readonly PlacedRow[],
): readonly StoredTurn[] {
  const sides = sidesOf(items)
  return turns.map((row) => storedTurn(row, requestOf(row, {}), sides.get(row.id) ?? NO_ITEMS))
}

interface Sides {
  readonly in: PlacedRow[]
  readonly out: PlacedRow[]
}

const NO_ITEMS: Sides = { in: [], out: [] }

function sidesOf(items: readonly PlacedRow[]): ReadonlyMap<string, Sides> {
  const turns = new Map<string, Sides>()
  for (const row of items) {
    let sides = turns.get(row.turn_id)
    if (sides === undefined) turns.set(row.turn_id, (sides = { in: [], out: [] }))
    sides[row.side].push(row)
  }
  return turns
}

function storedTurn(row: TurnRow, request: JsonObject, sides: Sides): StoredTurn {
  const origin = originOf(row)
  const hidden = new Set<Item>()
  const input = inOrder(sides.in, hidden, null)
  const output = inOrder(sides.out, hidden, origin)
  return {
    id: fromColumn(row.id),
    tenant: fromColumn(row.tenant),
    user: fromMaybeColumn(row.user_id),
    thread: fromColumn(row.thread),
    parent: fromMaybeColumn(row.parent),
    dialect: row.dialect,
    origin,
    createdAtMs: row.created_at,
    request,
    digests: digestsOf(row),
    depth: row.depth,
    conversation: fromMaybeColumn(row.conversation),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as JsonObject),
    background: row.background === 1,
    owner: row.owner,
    deletedAtMs: row.deleted_at,
    state: row.state as TurnState,
    endedAtMs: row.ended_at,
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
    finish: row.finish as Finish | null,
    servedModel: fromMaybeColumn(row.served_model),
    contentHash: row.content_hash,
    input,
    output,
    hidden,
  }
}

function fromMaybeColumn(column: string | null): string | null {
  return column === null ? null : fromColumn(column)
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
function inOrder(rows: readonly PlacedRow[], hidden: Set<Item>, origin: Origin | null): Item[] {
  return rows
    .toSorted((one, other) => one.position - other.position)
    .map((row) => {
      const body = JSON.parse(row.body) as Item
      const item = origin === null ? body : { ...body, origin }
      if (row.hidden === 1) hidden.add(item)
      return item
    })
}
