/**
 * What a search has found, as turns again: those that were read just now, and those that are known
 * from before, of which only the turns themselves were read.
 */
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import { fromColumn, fromMaybeColumn } from '../database/escape-column-text.ts'
import {
  inOrder,
  originOf,
  sidesOf,
  type PlacedRow,
  type Sides,
} from '../turns/decode-turn-rows.ts'
import type { RecallCache, RecalledItems } from './recall-cache.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { Reading } from '../encryption/read-encrypted-rows.ts'
import type { Sized } from './limit-recalled-turns.ts'

/** What of a turn is read to be remembered. */
type RememberedRow = Pick<TurnRow, (typeof REMEMBERED_COLUMNS)[number]>

export const REMEMBERED_COLUMNS = [
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
  | PlacedRow
  | {
      readonly turn_id: string
      readonly side: 'turn'
      readonly position: number
      readonly body: string
    }
  | { readonly side: null }

export interface FoundTurn extends Sized {
  readonly row: RememberedRow
}

export function foundRows(rows: readonly FoundRow[]): {
  readonly turns: readonly FoundTurn[]
  readonly items: readonly PlacedRow[]
} {
  const turns: FoundTurn[] = []
  const items: PlacedRow[] = []
  for (const row of rows) {
    if (row.side === 'turn') {
      const { turn_id: id, position: bytes, body } = row
      turns.push({ id, bytes, row: JSON.parse(body) as RememberedRow })
    } else if (row.side !== null) items.push(row)
  }
  return { turns, items }
}

/** One without output is none: it was left without an answer, or went between two queries. */
export function rememberedTurns(
  turns: readonly FoundTurn[],
  items: readonly PlacedRow[],
  { cache, atHand }: KnownItems,
  reading: Reading,
): readonly RememberedTurn[] {
  const sides = sidesOf(items)
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
  sides: Sides,
  cache: RecallCache,
  reading: Reading,
): RecalledItems {
  const input = inOrder(sides.in, null, reading)
  const output = inOrder(sides.out, originOf(row), reading)
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

function rememberedTurn(row: RememberedRow, { input, output }: RecalledItems): RememberedTurn {
  return {
    id: fromColumn(row.id),
    thread: fromColumn(row.thread),
    parent: fromMaybeColumn(row.parent),
    depth: row.depth,
    fingerprint: fromMaybeColumn(row.fingerprint),
    reasoningRefusedBy: fromMaybeColumn(row.reasoning_refused_by),
    createdAtMs: row.created_at,
    usedAtMs: row.used_at,
    input,
    output,
  }
}
