/**
 * Turns and items as rows, and back. An item's text is the JSON of the item and nothing else, so
 * what nobody understands survives; beside it stand the few columns that it is looked up by.
 */
import type { Failure, Usage } from '../conversation/event.ts'
import type { Item, Origin } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import { fromColumn, toColumn, toKeyColumn } from './column.ts'
import type { NewTurn, PlacedItem, StoredTurn, TurnEnding, TurnState } from './store.ts'
import type { ItemRow, TurnRow } from './tables.ts'

export function turnRow(turn: NewTurn): TurnRow {
  return {
    id: toColumn(turn.id),
    tenant: toColumn(turn.tenant),
    user_id: turn.user === null ? null : toColumn(turn.user),
    thread: toColumn(turn.thread),
    parent: turn.parent === null ? null : toColumn(turn.parent),
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
    conversation: turn.conversation === null ? null : toColumn(turn.conversation),
    metadata: null,
    background: turn.background ? 1 : 0,
    owner: turn.owner,
    deleted_at: null,
  }
}

export type TurnRowEnding = Pick<
  TurnRow,
  'id' | 'tenant' | 'state' | 'wire' | 'account' | 'model' | 'ended_at' | 'usage' | 'failure'
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
    usage: ending.usage === null ? null : JSON.stringify(ending.usage),
    failure: ending.failure === null ? null : JSON.stringify(ending.failure),
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
export type PlacedRow = Pick<ItemRow, 'turn_id' | 'side' | 'position' | 'body'>

/**
 * Lines up the rows of a chain, which come in any order, from the root to `leaf`. A turn whose
 * parent is not among them is the first; in a circle every turn stands once.
 */
export function storedTurns(
  leaf: string,
  turns: readonly TurnRow[],
  items: readonly PlacedRow[],
): readonly StoredTurn[] {
  const sides = sidesOf(items)
  const remaining = new Map(turns.map((turn) => [turn.id, turn]))
  const chain: StoredTurn[] = []
  for (let row = remaining.get(leaf); row !== undefined;) {
    remaining.delete(row.id)
    chain.push(storedTurn(row, sides.get(row.id) ?? NO_ITEMS))
    row = row.parent === null ? undefined : remaining.get(row.parent)
  }
  return chain.toReversed()
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

function storedTurn(row: TurnRow, sides: Sides): StoredTurn {
  const origin: Origin = {
    wire: row.wire,
    account: fromColumn(row.account),
    model: fromColumn(row.model),
    prefixHash: row.prefix_hash,
  }
  return {
    id: fromColumn(row.id),
    tenant: fromColumn(row.tenant),
    user: row.user_id === null ? null : fromColumn(row.user_id),
    thread: fromColumn(row.thread),
    parent: row.parent === null ? null : fromColumn(row.parent),
    dialect: row.dialect,
    origin,
    createdAtMs: row.created_at,
    request: JSON.parse(row.request) as JsonObject,
    depth: row.depth,
    conversation: row.conversation === null ? null : fromColumn(row.conversation),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as JsonObject),
    background: row.background === 1,
    owner: row.owner,
    deletedAtMs: row.deleted_at,
    state: row.state as TurnState,
    endedAtMs: row.ended_at,
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
    input: inOrder(sides.in),
    output: inOrder(sides.out).map((item) => ({ ...item, origin })),
  }
}

function inOrder(rows: PlacedRow[]): readonly Item[] {
  return rows
    .toSorted((one, other) => one.position - other.position)
    .map((row) => JSON.parse(row.body) as Item)
}
