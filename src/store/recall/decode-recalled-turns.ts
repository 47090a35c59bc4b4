/**
 * Decodes the turns that a search found. Their items come from the rows, or from the cache if the
 * turns were read before.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { decodeColumnText, decodeNullableColumnText } from '../database/encode-column-text.ts'
import {
  decodeItems,
  decodeOrigin,
  groupItemRows,
  type DecryptedItemRow,
  type ItemBodyRow,
  type TurnItemRows,
} from '../turns/decode-turn-rows.ts'
import type { RecallCache, RecalledItems } from './recall-cache.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { RowReader } from '../encryption/decrypt-rows.ts'
import type { SizedTurn } from '../turns/read-items-in-slices.ts'

type RecalledTurnRow = Pick<TurnRow, (typeof RECALLED_COLUMNS)[number]>

export const RECALLED_COLUMNS = [
  'id',
  'thread',
  'parent',
  'depth',
  'fingerprint',
  'reasoning_refused_by',
  'created_at',
  'used_at',
  'wire',
  'account',
  'model',
  'prefix_hash',
  'state',
  'conversation',
] as const satisfies readonly (keyof TurnRow)[]

/**
 * A row that a search returns: a turn (as JSON in `body`, with its size in bytes in `position`), or
 * an item of a turn. For a turn without items there is also a row in which all columns are null.
 */
export type RecallSearchRow =
  | ItemBodyRow
  | {
      readonly turn_id: string
      readonly side: 'turn'
      readonly position: number
      readonly body: string
    }
  | { readonly side: null }

export interface FoundTurnRow extends SizedTurn {
  readonly id: string
  readonly row: RecalledTurnRow
}

export function splitSearchRows(rows: readonly RecallSearchRow[]): {
  readonly turns: readonly FoundTurnRow[]
  readonly items: readonly ItemBodyRow[]
} {
  const turns: FoundTurnRow[] = []
  const items: ItemBodyRow[] = []
  for (const row of rows) {
    if (row.side === 'turn') {
      const { turn_id: id, position: bytes, body } = row
      turns.push({ id, bytes, row: JSON.parse(body) as RecalledTurnRow })
    } else if (row.side !== null) items.push(row)
  }
  return { turns, items }
}

/**
 * Decodes the turns. Leaves out turns without output items: they have no answer, or were deleted
 * between two queries.
 */
export function decodeRecalledTurns(
  turns: readonly FoundTurnRow[],
  items: readonly DecryptedItemRow[],
  { cache, cachedItems }: CachedItems,
  reader: RowReader,
): readonly RecordedTurn[] {
  const sides = groupItemRows(items)
  return turns.flatMap(({ id, row }) => {
    const itemRows = sides.get(id)
    const recalled =
      itemRows === undefined ? cachedItems.get(id) : decodeNewItems(row, itemRows, cache, reader)
    return recalled === undefined || recalled.output.length === 0
      ? []
      : [createRecordedTurn(row, recalled)]
  })
}

/**
 * The recall cache, and the items that it had for this search. Decoded items are added to the
 * cache.
 */
interface CachedItems {
  readonly cache: RecallCache
  readonly cachedItems: ReadonlyMap<string, RecalledItems>
}

function decodeNewItems(
  row: RecalledTurnRow,
  sides: TurnItemRows,
  cache: RecallCache,
  reader: RowReader,
): RecalledItems {
  const input = decodeItems(sides.in, null, reader)
  const output = decodeItems(sides.out, decodeOrigin(row), reader)
  const items = { input, output }
  const isComplete = input.length === sides.in.length && output.length === sides.out.length
  if (isComplete && areItemsFinal(row)) cache.add(row.id, row.fingerprint, items)
  return items
}

/** True if the items of the turn cannot change any more. */
function areItemsFinal({ state, conversation }: RecalledTurnRow): boolean {
  return state !== 'open' && state !== 'queued' && conversation === null
}

function createRecordedTurn(row: RecalledTurnRow, { input, output }: RecalledItems): RecordedTurn {
  return {
    id: decodeColumnText(row.id),
    thread: decodeColumnText(row.thread),
    parent: decodeNullableColumnText(row.parent),
    depth: row.depth,
    fingerprint: decodeNullableColumnText(row.fingerprint),
    reasoningRefusedBy: decodeNullableColumnText(row.reasoning_refused_by),
    createdAtMs: row.created_at,
    isComplete: row.state === 'complete',
    usedAtMs: row.used_at,
    input,
    output,
  }
}
