/**
 * SQL implementation of `TurnManagementStore` for any engine. Each method takes one round trip, or
 * two if it returns items with media.
 */
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
  TurnFoundByContent,
  TurnDeletionResult,
  TurnPage,
} from './turn-management-store-interface.ts'
import { decodeColumnText, encodeColumnText } from '../database/encode-column-text.ts'
import { resolvePageStart } from '../database/resolve-page-start.ts'
import type { Engine, SqlQuery, SqlRows } from '../database/engine-interface.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import { createDeletionLogStatements } from '../deletion/deletion-log-statements.ts'
import {
  createItemLookupStatements,
  MAX_ITEMS_PER_QUERY,
  type ItemLookupStatements,
} from './item-lookup-statements.ts'
import { decryptRowsWithMedia } from '../media/encode-and-restore-media-rows.ts'
import { encodeOwnedRowKey, encodeOwner, type OwnerKey } from '../owner.ts'
import {
  decodeDigests,
  decodeSeparateTurns,
  decodeOrigin,
  decodeTurnChain,
  type DecryptedRow,
  type ItemBodyRow,
} from './decode-turn-rows.ts'
import {
  createMediaReleaseStatements,
  buildReleaseQueries,
  buildSweepQueries,
} from '../media/media-release-statements.ts'
import { createTurnStatements } from './turn-statements.ts'
import { createSummaryStatements } from '../summaries/summary-statements.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/decrypt-rows.ts'

export function createTurnManagementStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
): TurnManagementStore {
  const sql = createTurnManagementStatements(engine.language)
  const items = createItemLookupStatements(engine.language)
  const { chainTurns, media } = createTurnStatements(engine.language)
  const summaries = createSummaryStatements(engine.language)
  const mediaRelease = createMediaReleaseStatements(engine.language)
  const deletionLog = createDeletionLogStatements(engine.language)
  return {
    async loadTurn(owner, turnId) {
      const key = encodeOwnedRowKey(owner, turnId)
      // Reads the ancestors too, because the turn may share request fields with its parent.
      const [turns = [], ownItems = []] = await engine.read([chainTurns(key), sql.turnItems(key)])
      const itemRows = ownItems as readonly ItemBodyRow[]
      const { rows, failures } = await decryptRowsWithMedia(
        engine,
        media,
        key,
        itemRows,
        encryption,
      )
      const chain = decryptRows(
        encryption,
        key,
        (reader) => decodeTurnChain(key.id, turns as readonly TurnRow[], rows, reader),
        { rule: 'fail', failures },
      )
      return chain.at(-1) ?? null
    },
    async deleteTurn({ turnId, dialect, nowMs, ...owner }) {
      const key = encodeOwnedRowKey(owner, turnId)
      const [before = []] = await writeAfterLock(engine, 'deletion', key.tenant, [
        sql.turnState(key),
        sql.markDeleted({ ...key, dialect, nowMs }),
        deletionLog.logThreadOfDeletedTurn({ ...key, nowMs }),
        sql.deleteEvents(key),
        summaries.removeOfDeleted(key),
        ...buildReleaseQueries(mediaRelease.ofDeleted, key),
        sql.deleteTurns(key),
        ...buildSweepQueries(mediaRelease),
      ])
      return chooseDeletionResult(before, dialect)
    },
    async replaceMetadata({ turnId, dialect, metadata, ...owner }) {
      const labels = {
        ...encodeOwnedRowKey(owner, turnId),
        dialect,
        metadata: JSON.stringify(metadata),
      }
      const [rows = []] = await engine.write([sql.updateMetadata(labels)])
      return rows.length > 0
    },
    async listTurns(page) {
      const [turns = [], outputs = []] = await engine.read(buildListQueries(sql, page))
      const owner = encodeOwner(page)
      const itemRows = outputs as readonly ItemBodyRow[]
      const { rows, failures } = await decryptRowsWithMedia(
        engine,
        media,
        owner,
        itemRows,
        encryption,
      )
      return decryptRows(
        encryption,
        owner,
        (reader) => decodeSeparateTurns(turns as readonly TurnRow[], rows, reader),
        { rule: 'fail', failures },
      )
    },
    async findItems(owner, ids) {
      const wanted = [...new Set(ids)]
      if (wanted.length === 0) return new Map()
      const key = encodeOwner(owner)
      const found = await engine.read(buildLookupQueries(items, key, wanted))
      const itemRows = found.flat() as readonly FoundItemRow[]
      const { rows, failures } = await decryptRowsWithMedia(
        engine,
        media,
        key,
        itemRows,
        encryption,
      )
      return decryptRows(encryption, key, (reader) => decodeFoundItems(wanted, rows, reader), {
        rule: 'fail',
        failures,
      })
    },
    async findTurnByContent({ hashes, ...owner }) {
      if (hashes.length === 0) return null
      const search = { ...encodeOwner(owner), hashes }
      const [turns = []] = await engine.read([sql.findTurnsByContent(search)])
      return decryptRows(encryption, search, (rows) =>
        decodeFirstMatch(hashes, turns as readonly ContentRow[], rows),
      )
    },
  }
}

function chooseDeletionResult(before: SqlRows, dialect: string): TurnDeletionResult {
  const [turn] = before as readonly Pick<TurnRow, 'state' | 'dialect' | 'deleted_at'>[]
  if (turn === undefined || turn.dialect !== dialect || turn.deleted_at !== null) return 'unknown'
  return turn.state === 'queued' || turn.state === 'open' ? 'running' : 'deleted'
}

function buildListQueries(sql: TurnManagementStatements, page: TurnPage): readonly SqlQuery[] {
  const labels = Object.entries(page.metadata).map(
    ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  const shape: TurnPageShape = { order: page.order, labelCount: labels.length }
  const values: TurnListQuery = {
    ...encodeOwner(page),
    after: resolvePageStart(page.after, page.order),
    limit: page.limit,
    model: page.model === null ? '' : encodeColumnText(page.model),
    labels,
  }
  return [sql.listTurns(shape)(values), sql.listItems(shape)(values)]
}

/** Builds the queries that find items by id and by position, with 32 keys in each query. */
function buildLookupQueries(
  sql: ItemLookupStatements,
  owner: OwnerKey,
  ids: readonly string[],
): readonly SqlQuery[] {
  const positions = ids.map(parseItemId).filter((position) => position !== null)
  const queries: SqlQuery[] = []
  for (let from = 0; from < ids.length; from += MAX_ITEMS_PER_QUERY) {
    const chunk = ids.slice(from, from + MAX_ITEMS_PER_QUERY).map(encodeColumnText)
    queries.push(sql.itemsById({ ...owner, ids: chunk }))
  }
  for (let from = 0; from < positions.length; from += MAX_ITEMS_PER_QUERY) {
    queries.push(
      sql.itemsByPosition({
        ...owner,
        positions: positions.slice(from, from + MAX_ITEMS_PER_QUERY),
      }),
    )
  }
  return queries
}

type FoundItemRow = Pick<ItemRow, 'item_id' | 'turn_id' | 'side' | 'position' | 'body'> &
  Pick<TurnRow, 'wire' | 'account' | 'model' | 'prefix_hash' | 'deleted_at'> & {
    /**
     * 1 if a client removed the item from its conversation, else 0; `null` in the row of a
     * requested id for which no item was found.
     */
    readonly hidden: number | null
  }

/**
 * Maps each requested id to its item. If the id names a turn and a position, the item at that
 * position takes precedence over another item with this id, which may be a copy made by a client.
 */
function decodeFoundItems(
  wanted: readonly string[],
  found: readonly DecryptedRow<FoundItemRow>[],
  reader: RowReader,
): ReadonlyMap<string, Item> {
  const rows = found.filter(({ hidden, deleted_at }) => hidden === 0 && deleted_at === null)
  const byId = new Map(rows.map((row) => [row.item_id, row]))
  const byPosition = new Map(
    rows.map((row) => [formatPositionKey(row.turn_id, row.side, row.position), row]),
  )
  const items = new Map<string, Item>()
  for (const id of wanted) {
    const position = parseItemId(id)
    const row =
      (position === null
        ? undefined
        : byPosition.get(formatPositionKey(position.turnId, position.side, position.index))) ??
      byId.get(encodeColumnText(id))
    const item = row === undefined ? null : decodeItem(row, reader)
    if (item !== null) items.set(id, item)
  }
  return items
}

function formatPositionKey(turnId: string, side: string, index: number): string {
  return `${turnId} ${side} ${index}`
}

function decodeItem(row: DecryptedRow<FoundItemRow>, reader: RowReader): Item | null {
  const item = reader.parsePlain(row.text) as Item | null
  return item !== null && row.side === 'out' ? { ...item, origin: decodeOrigin(row) } : item
}

type ContentRow = Pick<TurnRow, 'id' | 'thread' | 'depth' | 'digests'> & {
  readonly content_hash: string
}

function decodeFirstMatch(
  hashes: readonly string[],
  rows: readonly ContentRow[],
  reader: RowReader,
): TurnFoundByContent | null {
  for (const hash of hashes) {
    const row = rows.find((row) => row.content_hash === hash)
    if (row === undefined) continue
    const { id, thread, depth } = row
    return {
      id: decodeColumnText(id),
      thread: decodeColumnText(thread),
      depth,
      digests: decodeDigests(row, reader),
      contentHash: hash,
    }
  }
  return null
}
