/** The archive's verbs over any engine, each of them one round trip. */
import { placeOfItem } from '../conversation/ids.ts'
import type { Item } from '../conversation/item.ts'
import {
  createArchiveStatements,
  type ArchiveStatements,
  type Listing,
  type PageShape,
} from './archive-statements.ts'
import type { ArchiveStore, ContentTurn, Deletion, TurnPage } from './archive-store.ts'
import { fromColumn, toColumn } from './column.ts'
import type { Engine, Query, Rows } from './engine.ts'
import { createItemStatements, MAX_WANTED, type ItemStatements } from './item-statements.ts'
import { digestsOf, loneTurns, originOf, storedTurns, type PlacedRow } from './read-rows.ts'
import { createStatements } from './statements.ts'
import type { ItemRow, TurnRow } from './tables.ts'

export function createArchiveStore(engine: Engine): ArchiveStore {
  const sql = createArchiveStatements(engine.language)
  const items = createItemStatements(engine.language)
  const { chainTurns } = createStatements(engine.language)
  return {
    async loadTurn(tenant, turnId) {
      const key = keyOf(tenant, turnId)
      // Its ancestors are read because its request may be the same as theirs.
      const [turns = [], own = []] = await engine.read([chainTurns(key), sql.turnItems(key)])
      const chain = storedTurns(key.id, turns as readonly TurnRow[], own as readonly PlacedRow[])
      return chain.at(-1) ?? null
    },
    async deleteTurn({ tenant, turnId, dialect, nowMs }) {
      const key = keyOf(tenant, turnId)
      const [before = []] = await engine.write([
        sql.turnState(key),
        sql.markDeleted({ ...key, dialect, nowMs }),
        sql.forgetEvents(key),
        sql.removeTurns(key),
      ])
      return deletionOf(before, dialect)
    },
    async relabelTurn({ tenant, turnId, dialect, metadata }) {
      const labels = { ...keyOf(tenant, turnId), dialect, metadata: JSON.stringify(metadata) }
      const [rows = []] = await engine.write([sql.relabelTurn(labels)])
      return rows.length > 0
    },
    async listTurns(page) {
      const [turns = [], outputs = []] = await engine.read(listing(sql, page))
      return loneTurns(turns as readonly TurnRow[], outputs as readonly PlacedRow[])
    },
    async findItems(tenant, ids) {
      const wanted = [...new Set(ids)]
      if (wanted.length === 0) return new Map()
      const rows = await engine.read(searches(items, toColumn(tenant), wanted))
      return foundItems(wanted, rows.flat() as readonly FoundRow[])
    },
    async findContent({ tenant, user, hashes }) {
      if (hashes.length === 0) return null
      const search = { tenant: toColumn(tenant), user: user === null ? '' : toColumn(user), hashes }
      const [rows = []] = await engine.read([sql.contentTurns(search)])
      return bestOf(hashes, rows as readonly ContentRow[])
    },
  }
}

function keyOf(tenant: string, turnId: string) {
  return { tenant: toColumn(tenant), id: toColumn(turnId) }
}

function deletionOf(before: Rows, dialect: string): Deletion {
  const [turn] = before as readonly Pick<TurnRow, 'state' | 'dialect' | 'deleted_at'>[]
  if (turn === undefined || turn.dialect !== dialect || turn.deleted_at !== null) return 'unknown'
  return turn.state === 'queued' || turn.state === 'open' ? 'running' : 'deleted'
}

function listing(sql: ArchiveStatements, page: TurnPage): readonly Query[] {
  const labels = Object.entries(page.metadata).map(
    ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  const shape: PageShape = { order: page.order, labels: labels.length }
  const values: Listing = {
    tenant: toColumn(page.tenant),
    after: page.after ?? (page.order === 'asc' ? '' : BEHIND_ALL_IDS),
    limit: page.limit,
    model: page.model === null ? '' : toColumn(page.model),
    labels,
  }
  return [sql.listedTurns(shape)(values), sql.listedItems(shape)(values)]
}

const BEHIND_ALL_IDS = '~'

/** By id and by place; what has been looked for both ways is found by either. */
function searches(sql: ItemStatements, tenant: string, ids: readonly string[]): readonly Query[] {
  const places = ids.map(placeOfItem).filter((place) => place !== null)
  const queries: Query[] = []
  for (let from = 0; from < ids.length; from += MAX_WANTED) {
    const some = ids.slice(from, from + MAX_WANTED).map(toColumn)
    queries.push(sql.itemsById({ tenant, ids: some }))
  }
  for (let from = 0; from < places.length; from += MAX_WANTED) {
    queries.push(sql.itemsByPlace({ tenant, places: places.slice(from, from + MAX_WANTED) }))
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
): ReadonlyMap<string, Item> {
  const rows = found.filter(({ hidden, deleted_at }) => hidden === 0 && deleted_at === null)
  const byId = new Map(rows.map((row) => [row.item_id, row]))
  const byPlace = new Map(rows.map((row) => [placeKey(row.turn_id, row.side, row.position), row]))
  const items = new Map<string, Item>()
  for (const id of wanted) {
    const place = placeOfItem(id)
    const row =
      (place === null ? undefined : byPlace.get(placeKey(place.turnId, place.side, place.index))) ??
      byId.get(toColumn(id))
    if (row !== undefined) items.set(id, itemOf(row))
  }
  return items
}

function placeKey(turnId: string, side: string, index: number): string {
  return `${turnId} ${side} ${index}`
}

function itemOf(row: FoundRow): Item {
  const item = JSON.parse(row.body) as Item
  return row.side === 'out' ? { ...item, origin: originOf(row) } : item
}

type ContentRow = Pick<TurnRow, 'id' | 'thread' | 'depth' | 'digests'> & {
  readonly content_hash: string
}

function bestOf(hashes: readonly string[], rows: readonly ContentRow[]): ContentTurn | null {
  for (const hash of hashes) {
    const row = rows.find((row) => row.content_hash === hash)
    if (row === undefined) continue
    const { id, thread, depth } = row
    return {
      id: fromColumn(id),
      thread: fromColumn(thread),
      depth,
      digests: digestsOf(row),
      contentHash: hash,
    }
  }
  return null
}
