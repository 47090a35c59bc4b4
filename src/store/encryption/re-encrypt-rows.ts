/**
 * Seals with the newest key whatever is stored under another, or is not sealed at all. A row that is
 * done is known by how it begins, so that whoever is interrupted just begins again; one that a running
 * gateway changes meanwhile is left to it, which seals it with its own newest key. What no key reads
 * stays as it is.
 */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { rekeyFactIndex } from '../facts/rekey-fact-index.ts'
import type { RowLocation, StorageCipher } from './cipher.ts'

export interface ReEncryptionProgress {
  readonly resealed: number
  readonly unreadable: number
}

/** `onProgress` hears after each batch what has been done so far. */
export async function reEncryptRows(
  engine: Engine,
  sealer: StorageCipher,
  onProgress: (soFar: ReEncryptionProgress) => void,
): Promise<ReEncryptionProgress> {
  let [resealed, unreadable] = [0, 0]
  for (const column of COLUMNS) {
    const { staleRows, replaceText } = statementsOf(engine, column, sealer)
    let after: Key | null = { id: '', side: '', position: -1 }
    while (after !== null) {
      const [found = []] = await engine.read([staleRows(after)])
      const rows = found as readonly StaleRow[]
      const changes = rows.flatMap((row) => changeOf(row, column, sealer))
      const written = changes.length === 0 ? [] : await engine.write(changes.map(replaceText))
      resealed += written.filter((changed) => changed.length > 0).length
      unreadable += rows.length - changes.length
      after = rows.at(-1) ?? null
      if (after !== null) onProgress({ resealed, unreadable })
    }
  }
  await rekeyFactIndex(engine, sealer)
  return { resealed, unreadable }
}

interface Key {
  readonly id: string
  readonly side: string
  readonly position: number
}

interface StaleRow extends Key {
  readonly tenant: string
  readonly text: string
}

interface Change extends StaleRow {
  readonly sealed: string
}

/** A column that holds what was said, and the columns by which its rows are told apart. */
interface SealedColumn {
  readonly table: string
  readonly name: string
  readonly id: string
  readonly side: string | null
  readonly position: string | null
  /** `null`: it is the row's side. */
  readonly part: RowLocation['part'] | null
}

const COLUMNS: readonly SealedColumn[] = [
  { table: 'turns', name: 'request', id: 'id', side: null, position: null, part: 'request' },
  { table: 'turns', name: 'failure', id: 'id', side: null, position: null, part: 'failure' },
  {
    table: 'conversations',
    name: 'context',
    id: 'id',
    side: null,
    position: null,
    part: 'context',
  },
  { table: 'items', name: 'body', id: 'turn_id', side: 'side', position: 'position', part: null },
  {
    table: 'stream_events',
    name: 'text',
    id: 'turn_id',
    side: null,
    position: 'first_number',
    part: 'events',
  },
  { table: 'facts', name: 'body', id: 'id', side: null, position: null, part: 'fact' },
  { table: 'summaries', name: 'body', id: 'id', side: null, position: null, part: 'summary' },
  { table: 'layer_versions', name: 'body', id: 'id', side: null, position: null, part: 'layer' },
  { table: 'requests', name: 'body', id: 'turn_id', side: 'part', position: 'piece', part: null },
  {
    table: 'media_pieces',
    name: 'body',
    id: 'media_id',
    side: null,
    position: 'position',
    part: 'media',
  },
]

/** Of none, if no key reads it. */
function changeOf(row: StaleRow, column: SealedColumn, sealer: StorageCipher): readonly Change[] {
  const part = column.part ?? (row.side as RowLocation['part'])
  const place = { tenant: row.tenant, turnId: row.id, part, position: row.position }
  const text = sealer.unseal(row.text, place)
  return text === null ? [] : [{ ...row, sealed: sealer.seal(text, place) }]
}

interface Statements {
  /** The next after a row, so many that they fit into memory. */
  readonly staleRows: CompiledStatement<Key>
  /** Returns a row if the text still was what it was. */
  readonly replaceText: CompiledStatement<Change>
}

const BATCH_ROWS = 200
const BATCH_CHARS = 4_000_000

function statementsOf(engine: Engine, column: SealedColumn, { newest }: StorageCipher): Statements {
  const query = createSqlCompiler(engine.language)
  return {
    staleRows: query(null, (slot) => staleRows(column, slot, newest)),
    replaceText: query(null, (slot) => replaceText(column, slot)),
  }
}

function staleRows(
  column: SealedColumn,
  slot: ParameterSlot<Key>,
  newest: readonly string[],
): RawBuilder<unknown> {
  const text = sql.ref(column.name)
  const key = sql.join(keyOf(column))
  const isStale = newest.map(
    (head) => sql` and substr(${text}, 1, ${sql.lit(head.length)}) <> ${sql.lit(head)}`,
  )
  return sql`with page as (
      select ${key}, length(${text}) as size from ${sql.table(column.table)}
      where (${key}) > (${sql.join(valuesOf(column, slot))})
      and ${text} is not null${sql.join(isStale, sql``)}
      order by ${key} limit ${sql.lit(BATCH_ROWS)}
    ), summed as (
      select ${key}, sum(size) over (order by ${key}) - size as ahead from page
    )
    select ${sql.ref(column.id)} as id, tenant, ${text} as text,
      ${column.side === null ? sql.lit('') : sql.ref(column.side)} as side,
      ${column.position === null ? sql.lit(0) : sql.ref(column.position)} as position
    from ${sql.table(column.table)} join summed using (${key})
    where ahead < ${sql.lit(BATCH_CHARS)} order by ${key}`
}

function replaceText(column: SealedColumn, slot: ParameterSlot<Change>): RawBuilder<unknown> {
  const text = sql.ref(column.name)
  return sql`update ${sql.table(column.table)} set ${text} = ${slot(({ sealed }) => sealed)}
    where (${sql.join(keyOf(column))}) = (${sql.join(valuesOf(column, slot))})
    and ${text} = ${slot((change) => change.text)} returning 1 as done`
}

function keyOf({ id, side, position }: SealedColumn): readonly RawBuilder<unknown>[] {
  return [id, side, position].filter((name) => name !== null).map((name) => sql.ref(name))
}

function valuesOf<Input extends Key>(
  column: SealedColumn,
  slot: ParameterSlot<Input>,
): readonly unknown[] {
  return [
    slot(({ id }) => id),
    ...(column.side === null ? [] : [slot(({ side }) => side)]),
    ...(column.position === null ? [] : [slot(({ position }) => position)]),
  ]
}
