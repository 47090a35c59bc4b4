/**
 * What a search has found, as turns again: those that were read just now, and those that are known
 * from before, of which only the turns themselves were read.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { decodeColumn, decodeNullableColumn } from '../database/escape-column-text.ts'
import {
  decodeItems,
  decodeOrigin,
  groupItemRows,
  type ItemBodyRow,
  type TurnItemRows,
} from '../turns/decode-turn-rows.ts'
import type { RecallCache, RecalledItems } from './recall-cache.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { RowReader } from '../encryption/read-encrypted-rows.ts'
import type { SizedTurn } from './limit-recalled-turns.ts'

/** What of a turn is read to be remembered. */
type RememberedRow = Pick<TurnRow, (typeof RECALLED_COLUMNS)[number]>

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

/** A turn as JSON, placed by its size; or one of its items, and `null` where there are none. */
export type FoundRow =
  | ItemBodyRow
  | {
      readonly turn_id: string
      readonly side: 'turn'
      readonly position: number
      readonly body: string
    }
  | { readonly side: null }

export interface FoundTurn extends SizedTurn {
  readonly row: RememberedRow
}

export function splitFoundRows(rows: readonly FoundRow[]): {
  readonly turns: readonly FoundTurn[]
  readonly items: readonly ItemBodyRow[]
} {
  const turns: FoundTurn[] = []
  const items: ItemBodyRow[] = []
  for (const row of rows) {
    if (row.side === 'turn') {
      const { turn_id: id, position: bytes, body } = row
      turns.push({ id, bytes, row: JSON.parse(body) as RememberedRow })
    } else if (row.side !== null) items.push(row)
  }
  return { turns, items }
}

/** One without output is none: it was left without an answer, or went between two queries. */
export function decodeRecalledTurns(
  turns: readonly FoundTurn[],
  items: readonly ItemBodyRow[],
  { cache, atHand }: KnownItems,
  reading: RowReader,
): readonly RecordedTurn[] {
  const sides = groupItemRows(items)
  return turns.flatMap(({ id, row }) => {
    const read = sides.get(id)
    const own = read === undefined ? atHand.get(id) : parsedSides(row, read, cache, reading)
    return own === undefined || own.output.length === 0 ? [] : [rememberedTurn(row, own)]
  })
}

/** What was read before, for this request and for later ones. */
interface KnownItems {
  readonly cache: RecallCache
  readonly atHand: ReadonlyMap<string, RecalledItems>
}

function parsedSides(
  row: RememberedRow,
  sides: TurnItemRows,
  cache: RecallCache,
  reading: RowReader,
): RecalledItems {
  const input = decodeItems(sides.in, null, reading)
  const output = decodeItems(sides.out, decodeOrigin(row), reading)
  const items = { input, output }
  const isWhole = input.length === sides.in.length && output.length === sides.out.length
  if (isWhole && isSettled(row)) {
    const chars = [...sides.in, ...sides.out].reduce((sum, { body }) => sum + body.length, 0)
    cache.keep(row.id, row.fingerprint, items, chars)
  }
  return items
}

/** Whether its items stay what they are. */
function isSettled({ state, conversation }: RememberedRow): boolean {
  return state !== 'open' && state !== 'queued' && conversation === null
}

function rememberedTurn(row: RememberedRow, { input, output }: RecalledItems): RecordedTurn {
  return {
    id: decodeColumn(row.id),
    thread: decodeColumn(row.thread),
    parent: decodeNullableColumn(row.parent),
    depth: row.depth,
    fingerprint: decodeNullableColumn(row.fingerprint),
    reasoningRefusedBy: decodeNullableColumn(row.reasoning_refused_by),
    createdAtMs: row.created_at,
    usedAtMs: row.used_at,
    input,
    output,
  }
}
