/** The archive's verbs over any engine, each of them one round trip. */
import { parseItemId } from '../../core/turn-derived-ids.ts'
import type { Item } from '../../core/item.ts'
import {
  createTurnManagementStatements,
  type TurnManagementStatements,
  type TurnListQuery,
  type TurnPageShape,
} from './turn-management-statements.ts'
import type {
  TurnManagementStore,
  ContentTurn,
  TurnDeletionResult,
  TurnPage,
} from './turn-management-store-interface.ts'
import { decodeColumn, encodeColumn } from '../database/escape-column-text.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createDeletionLogStatements } from '../deletion/deletion-log-statements.ts'
import {
  createItemLookupStatements,
  MAX_ITEMS_PER_QUERY,
  type ItemLookupStatements,
} from './item-lookup-statements.ts'
import { restoreRowMedia } from '../media/encode-and-restore-media-rows.ts'
import { encodeOwner, type OwnerKey } from '../owner.ts'
import type { Caller } from '../../core/client/caller.ts'
import {
  decodeDigests,
  decodeSeparateTurns,
  decodeOrigin,
  decodeTurnChain,
  type ItemBodyRow,
} from './decode-turn-rows.ts'
import {
  createMediaReleaseStatements,
  createReleaseQueries,
  createSweepQueries,
} from '../media/media-release-statements.ts'
import { createTurnStatements } from './turn-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'

export function createTurnManagementStore(
  engine: Engine,
  vault: RowEncryption = NO_ENCRYPTION,
): TurnManagementStore {
  const sql = createTurnManagementStatements(engine.language)
  const items = createItemLookupStatements(engine.language)
  const { chainTurns, media } = createTurnStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const release = createMediaReleaseStatements(engine.language)
  const forgotten = createDeletionLogStatements(engine.language)
  return {
    async loadTurn(owner, turnId) {
      const key = keyOf(owner, turnId)
      // Its ancestors are read because its request may be the same as theirs.
      const [turns = [], own = []] = await engine.read([chainTurns(key), sql.turnItems(key)])
      const placed = own as readonly ItemBodyRow[]
      const whole = await restoreRowMedia(engine, media, key.tenant, placed, vault)
      const chain = readEncryptedRows(vault, key.tenant, (rows) =>
        decodeTurnChain(key.id, turns as readonly TurnRow[], whole, rows),
      )
      return chain.at(-1) ?? null
    },
    async deleteTurn({ turnId, dialect, nowMs, ...owner }) {
      const key = keyOf(owner, turnId)
      const [before = []] = await writeAfterLock(engine, 'alone', key.tenant, [
        sql.turnState(key),
        sql.markDeleted({ ...key, dialect, nowMs }),
        forgotten.noteDeleted({ ...key, nowMs }),
        sql.forgetEvents(key),
        summaries.removeOfDeleted(key),
        ...createReleaseQueries(release.ofDeleted, key),
        sql.removeTurns(key),
        ...createSweepQueries(release),
      ])
      return deletionOf(before, dialect)
    },
    async relabelTurn({ turnId, dialect, metadata, ...owner }) {
      const labels = { ...keyOf(owner, turnId), dialect, metadata: JSON.stringify(metadata) }
      const [rows = []] = await engine.write([sql.relabelTurn(labels)])
      return rows.length > 0
    },
    async listTurns(page) {
      const [turns = [], outputs = []] = await engine.read(listing(sql, page))
      const tenant = encodeColumn(page.tenant)
      const placed = outputs as readonly ItemBodyRow[]
      const whole = await restoreRowMedia(engine, media, tenant, placed, vault)
      return readEncryptedRows(vault, tenant, (rows) =>
        decodeSeparateTurns(turns as readonly TurnRow[], whole, rows),
      )
    },
    async findItems(owner, ids) {
      const wanted = [...new Set(ids)]
      if (wanted.length === 0) return new Map()
      const key = encodeOwner(owner)
      const found = await engine.read(searches(items, key, wanted))
      const placed = found.flat() as readonly FoundRow[]
      const whole = await restoreRowMedia(engine, media, key.tenant, placed, vault)
      return readEncryptedRows(vault, key.tenant, (rows) => foundItems(wanted, whole, rows))
    },
    async findContent({ hashes, ...owner }) {
      if (hashes.length === 0) return null
      const search = { ...encodeOwner(owner), hashes }
      const [turns = []] = await engine.read([sql.contentTurns(search)])
      return readEncryptedRows(vault, search.tenant, (rows) =>
        bestOf(hashes, turns as readonly ContentRow[], rows),
      )
    },
  }
}

function keyOf(owner: Caller, turnId: string) {
  return { ...encodeOwner(owner), id: encodeColumn(turnId) }
}

function deletionOf(before: SqlRows, dialect: string): TurnDeletionResult {
  const [turn] = before as readonly Pick<TurnRow, 'state' | 'dialect' | 'deleted_at'>[]
  if (turn === undefined || turn.dialect !== dialect || turn.deleted_at !== null) return 'unknown'
  return turn.state === 'queued' || turn.state === 'open' ? 'running' : 'deleted'
}

function listing(sql: TurnManagementStatements, page: TurnPage): readonly SqlQuery[] {
  const labels = Object.entries(page.metadata).map(
    ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  const shape: TurnPageShape = { order: page.order, labels: labels.length }
  const values: TurnListQuery = {
    ...encodeOwner(page),
    after: page.after ?? (page.order === 'asc' ? '' : BEHIND_ALL_IDS),
    limit: page.limit,
    model: page.model === null ? '' : encodeColumn(page.model),
    labels,
  }
  return [sql.listedTurns(shape)(values), sql.listedItems(shape)(values)]
}

const BEHIND_ALL_IDS = '~'

/** By id and by place; what has been looked for both ways is found by either. */
function searches(
  sql: ItemLookupStatements,
  owner: OwnerKey,
  ids: readonly string[],
): readonly SqlQuery[] {
  const places = ids.map(parseItemId).filter((place) => place !== null)
  const queries: SqlQuery[] = []
  for (let from = 0; from < ids.length; from += MAX_ITEMS_PER_QUERY) {
    const some = ids.slice(from, from + MAX_ITEMS_PER_QUERY).map(encodeColumn)
    queries.push(sql.itemsById({ ...owner, ids: some }))
  }
  for (let from = 0; from < places.length; from += MAX_ITEMS_PER_QUERY) {
    queries.push(
      sql.itemsByPlace({ ...owner, places: places.slice(from, from + MAX_ITEMS_PER_QUERY) }),
    )
  }
  return queries
}

type FoundRow = Pick<ItemRow, 'item_id' | 'turn_id' | 'side' | 'position' | 'body'> &
  Pick<TurnRow, 'wire' | 'account' | 'model' | 'prefix_hash' | 'deleted_at'> & {
    /** `null` in a row of nothing found. */
    readonly hidden: number | null
  }

/** The place comes first: an id may have been copied from there by a client that sent the item. */
function foundItems(
  wanted: readonly string[],
  found: readonly FoundRow[],
  reading: RowReader,
): ReadonlyMap<string, Item> {
  const rows = found.filter(({ hidden, deleted_at }) => hidden === 0 && deleted_at === null)
  const byId = new Map(rows.map((row) => [row.item_id, row]))
  const byPlace = new Map(rows.map((row) => [placeKey(row.turn_id, row.side, row.position), row]))
  const items = new Map<string, Item>()
  for (const id of wanted) {
    const place = parseItemId(id)
    const row =
      (place === null ? undefined : byPlace.get(placeKey(place.turnId, place.side, place.index))) ??
      byId.get(encodeColumn(id))
    const item = row === undefined ? null : itemOf(row, reading)
    if (item !== null) items.set(id, item)
  }
  return items
}

function placeKey(turnId: string, side: string, index: number): string {
  return `${turnId} ${side} ${index}`
}

function itemOf(row: FoundRow, reading: RowReader): Item | null {
  const { turn_id: turnId, side: part, position } = row
  const item = reading.object(row.body, { turnId, part, position }) as Item | null
  return item !== null && part === 'out' ? { ...item, origin: decodeOrigin(row) } : item
}

type ContentRow = Pick<TurnRow, 'id' | 'thread' | 'depth' | 'digests'> & {
  readonly content_hash: string
}

function bestOf(
  hashes: readonly string[],
  rows: readonly ContentRow[],
  reading: RowReader,
): ContentTurn | null {
  for (const hash of hashes) {
    const row = rows.find((row) => row.content_hash === hash)
    if (row === undefined) continue
    const { id, thread, depth } = row
    return {
      id: decodeColumn(id),
      thread: decodeColumn(thread),
      depth,
      digests: decodeDigests(row, reading),
      contentHash: hash,
    }
  }
  return null
}
