/** Builds the queries that insert and amend the items of a turn, with their media and the pieces of long items. */
import type { SqlQuery } from '../database/engine-interface.ts'
import type { ItemRow, TextPieceRow } from '../database/table-row-types.ts'
import type { StorageCipher } from '../encryption/cipher.ts'
import { buildMediaInserts } from '../media/encode-and-restore-media-rows.ts'
import { encodeOutputItems, type EncodedItem } from './encode-turn-rows.ts'
import type { TurnStatements } from './turn-statements.ts'
import type { TurnEnding } from './turn-store-interface.ts'

export type ItemInsertStatements = Pick<
  TurnStatements,
  'insertItem' | 'insertItemList' | 'media' | 'pieces'
>

export function buildItemInserts(
  sql: ItemInsertStatements,
  items: readonly EncodedItem[],
  cipher: StorageCipher,
): readonly SqlQuery[] {
  const queries = items.flatMap(({ row, media, pieces }) => [
    ...buildMediaInserts(sql.media, { turnId: row.turn_id, tenant: row.tenant }, media, cipher),
    ...pieces.map(sql.pieces.insertPiece),
  ])
  let list: ItemRow[] = []
  let listChars = 0
  const addList = (): void => {
    const [only] = list
    if (only !== undefined)
      queries.push(list.length === 1 ? sql.insertItem(only) : sql.insertItemList(list))
    list = []
    listChars = 0
  }
  for (const { row } of items) {
    const chars = row.body.length
    if (chars > MAX_LISTED_CHARS) {
      queries.push(sql.insertItem(row))
      continue
    }
    if (listChars + chars > MAX_LIST_CHARS) addList()
    list.push(row)
    listChars += chars + ROW_OVERHEAD_CHARS
  }
  addList()
  return queries
}

/** Statements that replace a stored item, and insert or replace a piece of it. */
export interface ItemAmendments {
  readonly amendItem: (row: ItemRow) => SqlQuery
  readonly amendPiece: (piece: TextPieceRow) => SqlQuery
}

/** Builds the queries that replace stored items. They must run before the turn ends. */
export function buildItemAmendments(
  sql: ItemAmendments,
  { turnId: id, tenant, user, amendedItems = [] }: TurnEnding,
  cipher: StorageCipher,
): readonly SqlQuery[] {
  return encodeOutputItems({ id, tenant, user }, amendedItems, cipher).flatMap(
    ({ row, pieces }) => [...pieces.map((piece) => sql.amendPiece(piece)), sql.amendItem(row)],
  )
}

/** The body of a longer item is a parameter of its own, which is cheaper than to escape it in a list. */
const MAX_LISTED_CHARS = 50_000
/**
 * Maximum size of a list. As JSON in JSON, a character takes up to three bytes, and a parameter of D1 is at most
 * 2 MB long.
 */
const MAX_LIST_CHARS = 500_000
/** Maximum characters of the other columns of an item: its ids and its type, at most 256 each. */
const ROW_OVERHEAD_CHARS = 800
