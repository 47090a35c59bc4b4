/**
 * Encrypts with the first key, and for their users, all stored texts that are plain, encrypted with
 * another key, or not bound to a user. The prefix of a text shows its format and key, so an
 * interrupted run can be started again. A row that a running gateway changes meanwhile is skipped,
 * because the gateway encrypts it with its own first key. Texts that no key decrypts stay unchanged.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { rekeyFactIndex } from '../facts/rekey-fact-index.ts'
import type { RowLocation, StorageCipher } from './cipher.ts'

export interface ReEncryptionProgress {
  readonly reEncryptedCount: number
  readonly unreadableCount: number
}

/** Re-encrypts all rows. Calls `onProgress` with the totals after each batch. */
export async function reEncryptRows(
  engine: Engine,
  cipher: StorageCipher,
  onProgress: (soFar: ReEncryptionProgress) => void,
): Promise<ReEncryptionProgress> {
  let [reEncryptedCount, unreadableCount] = [0, 0]
  for (const column of COLUMNS) {
    const { staleRows, replaceText } = createColumnStatements(engine, column, cipher)
    let after: RowKey | null = { id: '', side: '', position: -1 }
    while (after !== null) {
      const [found = []] = await engine.read([staleRows(after)])
      const rows = found as readonly StaleRow[]
      const changes = rows.flatMap((row) => encryptAgain(row, column, cipher))
      const written = changes.length === 0 ? [] : await engine.write(changes.map(replaceText))
      reEncryptedCount += written.filter((changed) => changed.length > 0).length
      unreadableCount += rows.length - changes.length
      after = rows.at(-1) ?? null
      if (after !== null) onProgress({ reEncryptedCount, unreadableCount })
    }
  }
  await rekeyFactIndex(engine, cipher)
  return { reEncryptedCount, unreadableCount }
}

interface RowKey {
  readonly id: string
  readonly side: string
  readonly position: number
}

interface StaleRow extends RowKey {
  readonly tenant: string
  readonly user: string
  readonly text: string
}

interface TextChange extends StaleRow {
  readonly encrypted: string
}

/** A column with encrypted text, and the columns that identify its rows. */
interface EncryptedColumn {
  readonly table: string
  readonly name: string
  readonly id: string
  readonly side: string | null
  readonly position: string | null
  /** The part of the text's location; `null` if it is the value of the column `side`. */
  readonly part: RowLocation['part'] | null
}

const ONE_TEXT_PER_ROW = { id: 'id', side: null, position: null }
const EVENTS = { id: 'turn_id', side: null, position: 'first_number' }
const TEXT_PIECES = { id: 'turn_id', side: 'text_name', position: 'piece' }
const PIECES = { id: 'media_id', side: null, position: 'position' }

const COLUMNS: readonly EncryptedColumn[] = [
  { table: 'turns', name: 'request', part: 'request', ...ONE_TEXT_PER_ROW },
  { table: 'turns', name: 'failure', part: 'failure', ...ONE_TEXT_PER_ROW },
  { table: 'conversations', name: 'context', part: 'context', ...ONE_TEXT_PER_ROW },
  { table: 'items', name: 'body', part: null, id: 'turn_id', side: 'side', position: 'position' },
  { table: 'stream_events', name: 'text', part: 'events', ...EVENTS },
  { table: 'text_pieces', name: 'body', part: null, ...TEXT_PIECES },
  { table: 'facts', name: 'body', part: 'fact', ...ONE_TEXT_PER_ROW },
  { table: 'summaries', name: 'body', part: 'summary', ...ONE_TEXT_PER_ROW },
  { table: 'layer_versions', name: 'body', part: 'layer', ...ONE_TEXT_PER_ROW },
  { table: 'requests', name: 'body', part: null, id: 'turn_id', side: 'part', position: 'piece' },
  { table: 'media_pieces', name: 'body', part: 'media', ...PIECES },
]

/**
 * Returns a list with the re-encrypted text of a row, or an empty list if no key decrypts the text.
 */
function encryptAgain(
  row: StaleRow,
  column: EncryptedColumn,
  cipher: StorageCipher,
): readonly TextChange[] {
  const part = column.part ?? (row.side as RowLocation['part'])
  const { tenant, user, id: rowId, position } = row
  const location = { tenant, user, rowId, part, position }
  const text = cipher.decrypt(row.text, location)
  return text === null ? [] : [{ ...row, encrypted: cipher.encrypt(text, location) }]
}

const BATCH_ROWS = 200
const BATCH_CHARS = 4_000_000

function createColumnStatements(
  engine: Engine,
  column: EncryptedColumn,
  { currentPrefixes }: StorageCipher,
) {
  const compile = createStatementCompiler(engine.language)
  return {
    staleRows: compile<RowKey>(null, (slot) => selectStaleRows(column, slot, currentPrefixes)),
    replaceText: compile<TextChange>(null, (slot) => replaceText(column, slot)),
  }
}

/**
 * Selects the next rows to re-encrypt, after the row with the given key: at most 200 rows and 4 MB of
 * text.
 */
function selectStaleRows(
  column: EncryptedColumn,
  slot: ParameterSlot<RowKey>,
  currentPrefixes: readonly string[],
): SqlFragment {
  const text = sql.ref(column.name)
  const key = sql.join(listKeyColumns(column))
  const isStale = currentPrefixes.map(
    (head) => sql` and substr(${text}, 1, ${sql.lit(head.length)}) <> ${sql.lit(head)}`,
  )
  return sql`with page as (
      select ${key}, length(${text}) as size from ${sql.table(column.table)}
      where (${key}) > (${sql.join(listKeyValues(column, slot))})
      and ${text} is not null${sql.join(isStale, sql``)}
      order by ${key} limit ${sql.lit(BATCH_ROWS)}
    ), summed as (
      select ${key}, sum(size) over (order by ${key}) - size as size_before from page
    )
    select ${sql.ref(column.id)} as id, tenant, ${selectUser(column)} as user, ${text} as text,
      ${column.side === null ? sql.lit('') : sql.ref(column.side)} as side,
      ${column.position === null ? sql.lit(0) : sql.ref(column.position)} as position
    from ${sql.table(column.table)} join summed using (${key})
    where size_before < ${sql.lit(BATCH_CHARS)} order by ${key}`
}

/** Selects the user that a text belongs to; empty if it belongs to none. */
function selectUser({ table, id }: EncryptedColumn): SqlFragment {
  if (id === 'id') return sql`coalesce(user_id, '')`
  if (id === 'media_id') return sql.lit('')
  return sql`coalesce((
    select turns.user_id from turns where turns.id = ${sql.ref(`${table}.turn_id`)}), '')`
}

/** Replaces a text, and returns a row, if the text has not changed since it was read. */
function replaceText(column: EncryptedColumn, slot: ParameterSlot<TextChange>): SqlFragment {
  const text = sql.ref(column.name)
  return sql`update ${sql.table(column.table)} set ${text} = ${slot('encrypted')}
    where (${sql.join(listKeyColumns(column))}) = (${sql.join(listKeyValues(column, slot))})
    and ${text} = ${slot('text')} returning 1 as done`
}

function listKeyColumns({ id, side, position }: EncryptedColumn): readonly SqlFragment[] {
  return [id, side, position].filter((name) => name !== null).map((name) => sql.ref(name))
}

function listKeyValues<Input extends RowKey>(
  column: EncryptedColumn,
  slot: ParameterSlot<Input>,
): readonly unknown[] {
  return [
    slot('id'),
    ...(column.side === null ? [] : [slot('side')]),
    ...(column.position === null ? [] : [slot('position')]),
  ]
}
