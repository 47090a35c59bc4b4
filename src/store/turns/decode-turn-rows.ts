/**
 * Decodes rows to turns and items. The rows may come in any order, and every body is parsed once.
 * Leaves out items that cannot be read; a request that cannot be read becomes an empty one.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../core/stream-event.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { decodeColumnText, decodeNullableColumnText } from '../database/encode-column-text.ts'
import type { FieldDigests, StoredTurn, TurnState } from './turn-store-interface.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import type { RowReader } from '../encryption/decrypt-rows.ts'
import type { DecryptedRow } from '../pieces/decrypt-long-texts.ts'

/** The columns of an item that queries return. */
export type ItemBodyRow = Pick<ItemRow, 'turn_id' | 'side' | 'position' | 'body'> & {
  /** 1 for a hidden item. Missing in queries that do not return hidden items. */
  readonly hidden?: number
}

/** The row of an item with its text, including its media. */
export type DecryptedItemRow = DecryptedRow<ItemBodyRow>

/** A turn whose request fields were decrypted; `request` is null if that failed. */
export type DecryptedTurnRow = Omit<TurnRow, 'request'> & { readonly request: string | null }

/**
 * Orders the turns of a chain from the first turn to `lastTurnId`. If a parent is missing, the
 * chain begins with its child. If the parents form a cycle, each turn appears once.
 */
export function orderChain<Row extends Pick<TurnRow, 'id' | 'parent'>>(
  lastTurnId: string,
  turns: readonly Row[],
): readonly Row[] {
  const remaining = new Map(turns.map((turn) => [turn.id, turn]))
  const path: Row[] = []
  for (let row = remaining.get(lastTurnId); row !== undefined;) {
    remaining.delete(row.id)
    path.push(row)
    row = row.parent === null ? undefined : remaining.get(row.parent)
  }
  return path.toReversed()
}

/** Decodes consecutive turns of a chain. `parentRequest`: the request of the turn before them. */
export function decodeOrderedTurns(
  turns: readonly DecryptedTurnRow[],
  items: readonly DecryptedItemRow[],
  parentRequest: JsonObject,
  reader: RowReader,
): readonly StoredTurn[] {
  const sides = groupItemRows(items)
  const chain: StoredTurn[] = []
  for (const row of turns) {
    const request = decodeRequest(row, chain.at(-1)?.request ?? parentRequest, reader)
    chain.push(decodeTurn(row, request, sides.get(row.id) ?? NO_ITEMS, reader))
  }
  return chain
}

function decodeRequest(
  row: DecryptedTurnRow,
  parentRequest: JsonObject,
  reader: RowReader,
): JsonObject {
  const request = reader.parsePlain(row.request)
  if (request === null) return {}
  if (row.digests === null) return request
  const inherited = Object.keys(decodeDigests(row, reader)).filter(
    (name) => !Object.hasOwn(request, name) && Object.hasOwn(parentRequest, name),
  )
  if (inherited.length === 0) return request
  return { ...request, ...Object.fromEntries(inherited.map((name) => [name, parentRequest[name]])) }
}

/** Returns the digests of the fields that a request shares with that of the parent, by name. */
export function listInheritedDigests(row: DecryptedTurnRow, reader: RowReader): FieldDigests {
  const request = reader.parsePlain(row.request)
  if (request === null || row.digests === null) return {}
  const digests = Object.entries(decodeDigests(row, reader))
  return Object.fromEntries(digests.filter(([name]) => !Object.hasOwn(request, name)))
}

export function decodeDigests(
  { digests }: Pick<TurnRow, 'digests'>,
  { parsePlain }: RowReader,
): FieldDigests {
  return (parsePlain(digests) ?? {}) as FieldDigests
}

/**
 * Decodes turns without their ancestors, in the order of their rows. The request fields that a turn
 * shares with its parent are missing.
 */
export function decodeSeparateTurns(
  turns: readonly DecryptedTurnRow[],
  items: readonly DecryptedItemRow[],
  reader: RowReader,
): readonly StoredTurn[] {
  const sides = groupItemRows(items)
  return turns.map((row) =>
    decodeTurn(row, decodeRequest(row, {}, reader), sides.get(row.id) ?? NO_ITEMS, reader),
  )
}

export interface TurnItemRows {
  readonly in: DecryptedItemRow[]
  readonly out: DecryptedItemRow[]
}

const NO_ITEMS: TurnItemRows = { in: [], out: [] }

export function groupItemRows(
  items: readonly DecryptedItemRow[],
): ReadonlyMap<string, TurnItemRows> {
  const turns = new Map<string, TurnItemRows>()
  for (const row of items) {
    let sides = turns.get(row.turn_id)
    if (sides === undefined) turns.set(row.turn_id, (sides = { in: [], out: [] }))
    sides[row.side].push(row)
  }
  return turns
}

function decodeTurn(
  row: DecryptedTurnRow,
  request: JsonObject,
  sides: TurnItemRows,
  reader: RowReader,
): StoredTurn {
  const origin = decodeOrigin(row)
  const hidden = new Set<Item>()
  const input = decodeItems(sides.in, null, reader, hidden)
  const output = decodeItems(sides.out, origin, reader, hidden)
  const failure =
    row.failure === null
      ? null
      : reader.decryptObject(row.failure, { rowId: row.id, part: 'failure', position: 0 })
  const unreadable = sides.in.length + sides.out.length - input.length - output.length
  return {
    ...(unreadable > 0 ? { unreadable } : {}),
    id: decodeColumnText(row.id),
    tenant: decodeColumnText(row.tenant),
    user: decodeNullableColumnText(row.user_id),
    thread: decodeColumnText(row.thread),
    parent: decodeNullableColumnText(row.parent),
    dialect: row.dialect,
    origin,
    createdAtMs: row.created_at,
    request,
    digests: decodeDigests(row, reader),
    depth: row.depth,
    conversation: decodeNullableColumnText(row.conversation),
    metadata: reader.parsePlain(row.metadata),
    background: row.background === 1,
    replicaId: row.owner,
    deletedAtMs: row.deleted_at,
    state: row.state as TurnState,
    endedAtMs: row.ended_at,
    usage: reader.parsePlain(row.usage) as TokenUsage | null,
    failure: failure as Failure | null,
    finish: row.finish as AnswerFinishReason | null,
    servedModel: decodeNullableColumnText(row.served_model),
    contentHash: row.content_hash,
    reasoningRefusedBy: decodeNullableColumnText(row.reasoning_refused_by),
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
    account: decodeColumnText(row.account),
    model: decodeColumnText(row.model),
    prefixHash: row.prefix_hash,
  }
}

/**
 * Decodes items in the order of their positions, and adds hidden items to `hidden`. Output items
 * get the origin of their turn.
 */
export function decodeItems(
  rows: readonly DecryptedItemRow[],
  origin: Origin | null,
  reader: RowReader,
  hidden: Set<Item> | null = null,
): Item[] {
  const shareOrigin = shareEqualOrigins()
  const items: Item[] = []
  for (const row of rows.toSorted(compareByPosition)) {
    // The object was just parsed, so changing it affects no other code.
    const item = reader.parsePlain(row.text) as Writable<Item> | null
    if (item === null) continue
    const itemOrigin = origin ?? shareOrigin(item.origin)
    if (itemOrigin !== undefined) item.origin = itemOrigin
    if (row.hidden === 1) hidden?.add(item)
    items.push(item)
  }
  return items
}

function compareByPosition(one: DecryptedItemRow, other: DecryptedItemRow): number {
  return one.position - other.position
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** Returns a function that replaces consecutive equal origins by one object, which saves memory. */
function shareEqualOrigins(): (origin: Origin | undefined) => Origin | undefined {
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
