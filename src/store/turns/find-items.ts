/**
 * Finds items by their ids, for clients that refer to them. Claims memory for the items, each as often as it is
 * requested, before it reads those that are large.
 */
import { parseItemId, type ItemPosition } from '../../core/turn-derived-ids.ts'
import type { Item } from '../../core/item.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import { encodeColumnText } from '../database/encode-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import {
  createItemLookupStatements,
  MAX_ITEMS_PER_QUERY,
  type BodyLimit,
  type ItemLookupStatements,
} from './item-lookup-statements.ts'
import { decryptRowsWithMedia } from '../media/encode-and-restore-media-rows.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import { encodeOwner, type OwnerKey } from '../owner.ts'
import { decodeOrigin, type ItemBodyRow } from './decode-turn-rows.ts'
import type { DecryptedRow } from '../pieces/decrypt-long-texts.ts'
import type { ItemRow, TurnRow } from '../database/table-row-types.ts'
import { decryptRows, type RowReader, type RowEncryption } from '../encryption/decrypt-rows.ts'
import { ITEM_OVERHEAD_BYTES } from '../recall/recall-store-interface.ts'
import {
  claimItemMemory,
  MAX_BYTES_AT_ONCE,
  readInSlices,
  sumBytes,
} from './read-items-in-slices.ts'
import type { TurnManagementStore } from './turn-management-store-interface.ts'

export function createItemFinder(
  engine: Engine,
  encryption: RowEncryption,
): TurnManagementStore['findItems'] {
  const items = createItemLookupStatements(engine.language)
  const media = createMediaStatements(engine.language)
  return async (owner, ids, claimMemory = () => undefined) => {
    const wanted = [...new Set(ids)]
    if (wanted.length === 0) return new Map()
    const key = encodeOwner(owner)
    const lookup = { ...key, maxBodyBytes: Math.floor(MAX_BYTES_AT_ONCE / wanted.length) }
    const found = (await engine.read(buildLookupQueries(items, lookup, wanted))).flat()
    const rowsById = chooseItemRows(wanted, found as readonly FoundItemRow[])
    const memory = claimRepeatedItems(ids, rowsById, encryption, claimMemory)
    const decode = async (rows: readonly FoundItemRow[]) => {
      const decrypted = await decryptRowsWithMedia(engine, media, key, rows, encryption, {
        claimMemory: memory.claim,
        claimsMedia: true,
      })
      return decryptRows(
        encryption,
        key,
        (reader) =>
          decrypted.rows.map((row) => ({
            position: formatRowPosition(row),
            chars: row.text?.length ?? 0,
            item: decodeItem(row, reader),
          })),
        { rule: 'fail', failures: decrypted.failures },
      )
    }
    const rowsByPosition = new Map(
      [...rowsById.values()].map((row) => [formatRowPosition(row), row]),
    )
    const rows = [...rowsByPosition.values()]
    const decoded = [
      ...(await decode(rows.filter(({ body }) => body !== null))),
      // The statements leave out bodies that are too large to be read before their memory is claimed.
      ...(await readInSlices(
        rows.filter(({ body }) => body === null),
        async (slice) => {
          const bodies = (await engine.read(buildBodyQueries(items, key, slice))).flat()
          return decode(addBodies(slice, bodies as readonly ItemBodyRow[]))
        },
      )),
    ]
    const byPosition = new Map(decoded.map((entry) => [entry.position, entry]))
    const findById = (id: string) => {
      const row = rowsById.get(id)
      return row === undefined ? undefined : byPosition.get(formatRowPosition(row))
    }
    memory.claimRemaining(ids.reduce((sum, id) => sum + (findById(id)?.chars ?? 0), 0))
    return new Map(
      wanted.flatMap((id) => {
        const item = findById(id)?.item ?? null
        return item === null ? [] : [[id, item] as const]
      }),
    )
  }
}

/** Builds the queries that find items by id and by position, with 32 keys in each query. */
function buildLookupQueries(
  sql: ItemLookupStatements,
  lookup: OwnerKey & BodyLimit,
  ids: readonly string[],
): readonly SqlQuery[] {
  const positions = ids.map(parseItemId).filter((position) => position !== null)
  const queries: SqlQuery[] = []
  for (let from = 0; from < ids.length; from += MAX_ITEMS_PER_QUERY) {
    const chunk = ids.slice(from, from + MAX_ITEMS_PER_QUERY).map(encodeColumnText)
    queries.push(sql.itemsById({ ...lookup, ids: chunk }))
  }
  for (const chunk of splitPositions(positions))
    queries.push(sql.itemsByPosition({ ...lookup, positions: chunk }))
  return queries
}

/** Builds the queries that read the bodies of found items. */
function buildBodyQueries(
  sql: ItemLookupStatements,
  owner: OwnerKey,
  rows: readonly FoundItemRow[],
): readonly SqlQuery[] {
  const positions = rows.map(({ turn_id: turnId, side, position: index }) => ({
    turnId,
    side,
    index,
  }))
  return splitPositions(positions).map((chunk) =>
    sql.bodiesByPosition({ ...owner, positions: chunk }),
  )
}

function splitPositions(positions: readonly ItemPosition[]): readonly (readonly ItemPosition[])[] {
  return Array.from({ length: Math.ceil(positions.length / MAX_ITEMS_PER_QUERY) }, (_, at) =>
    positions.slice(at * MAX_ITEMS_PER_QUERY, (at + 1) * MAX_ITEMS_PER_QUERY),
  )
}

type FoundItemRow = Pick<ItemRow, 'item_id' | 'turn_id' | 'side' | 'position'> &
  Pick<TurnRow, 'wire' | 'account' | 'model' | 'prefix_hash' | 'deleted_at'> & {
    /**
     * 1 if a client removed the item from its conversation, else 0; `null` in the row of a
     * requested id for which no item was found.
     */
    readonly hidden: number | null
    /** The size of the body. */
    readonly bytes: number
    /** `null` if the body is longer than the limit of the statement. */
    readonly body: string | null
  }

/**
 * Maps each requested id to the row of its item. If the id names a turn and a position, the item at that
 * position takes precedence over another item with this id, which may be a copy made by a client.
 */
function chooseItemRows(
  wanted: readonly string[],
  found: readonly FoundItemRow[],
): ReadonlyMap<string, FoundItemRow> {
  const rows = found.filter(({ hidden, deleted_at }) => hidden === 0 && deleted_at === null)
  const byId = new Map(rows.map((row) => [row.item_id, row]))
  const byPosition = new Map(rows.map((row) => [formatRowPosition(row), row]))
  const chosen = new Map<string, FoundItemRow>()
  for (const id of wanted) {
    const position = parseItemId(id)
    const row =
      (position === null
        ? undefined
        : byPosition.get(formatPositionKey(position.turnId, position.side, position.index))) ??
      byId.get(encodeColumnText(id))
    if (row !== undefined) chosen.set(id, row)
  }
  return chosen
}

/**
 * Claims the memory of the rows, each as often as its id is requested. Returns functions that claim more
 * while the rows are decoded.
 */
function claimRepeatedItems(
  ids: readonly string[],
  rowsById: ReadonlyMap<string, FoundItemRow>,
  { cipher }: RowEncryption,
  claimMemory: ClaimMemory,
) {
  let claimedBytes = 0
  const claim: ClaimMemory = (size) => {
    claimMemory(size)
    claimedBytes += size.bytes
  }
  const rows = ids.map((id) => rowsById.get(id)).filter((row) => row !== undefined)
  // Encrypted text is in base64, which takes a third more than the text.
  const textShare = cipher.currentPrefixes.length > 0 ? 3 / 4 : 1
  const textBytes = Math.floor(sumBytes(rows) * textShare)
  claimItemMemory(textBytes + rows.length * ITEM_OVERHEAD_BYTES, rows.length, claim)
  return {
    claim,
    /** `chars`: the length of all texts with their media, each as often as its id is requested. */
    claimRemaining(chars: number): void {
      if (chars > claimedBytes) claimItemMemory(chars - claimedBytes, 0, claim)
    },
  }
}

function addBodies(
  rows: readonly FoundItemRow[],
  bodies: readonly ItemBodyRow[],
): readonly FoundItemRow[] {
  const byPosition = new Map(bodies.map((row) => [formatRowPosition(row), row.body]))
  return rows.map((row) => ({ ...row, body: byPosition.get(formatRowPosition(row)) ?? null }))
}

function formatRowPosition(row: Pick<FoundItemRow, 'turn_id' | 'side' | 'position'>): string {
  return formatPositionKey(row.turn_id, row.side, row.position)
}

function formatPositionKey(turnId: string, side: string, index: number): string {
  return `${turnId} ${side} ${index}`
}

function decodeItem(row: DecryptedRow<FoundItemRow>, reader: RowReader): Item | null {
  const item = reader.parsePlain(row.text) as Item | null
  return item !== null && row.side === 'out' ? { ...item, origin: decodeOrigin(row) } : item
}
