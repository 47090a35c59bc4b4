/**
 * SQL that deletes turns by their ids in bounded transactions. A turn may have more rows than one transaction should
 * delete. So each transaction deletes a limited number and size of their rows, and the last one deletes the turns
 * together.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import {
  buildSweepQueries,
  createMediaReleaseStatements,
} from '../media/media-release-statements.ts'
import { releaseMedia } from '../media/media-statements.ts'

export interface TurnSlice {
  /** A JSON list of ids. */
  readonly turnIds: string
  /** Maximum number of rows that are deleted from each table. */
  readonly rows: number
}

/** Maximum size of the rows that one transaction deletes from a table. A larger row is deleted alone. */
export const MAX_SLICE_BYTES = 2_000_000

/**
 * The tables with rows of a turn, the primary key of each without `turn_id`, and the column that holds most of the
 * text. If a table contains parts of these rows, they are either deleted with them (`on delete cascade`) or the table
 * has a line of its own before them.
 */
const TABLES_OF_TURNS = [
  { table: 'text_pieces', key: ['text_name', 'piece'], text: 'body' },
  { table: 'stream_events', key: ['first_number'], text: 'text' },
  { table: 'requests', key: ['part', 'piece'], text: 'body' },
  { table: 'items', key: ['side', 'position'], text: 'body' },
] as const

export function createTurnSliceStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const isListed = (slot: ParameterSlot<TurnSlice>, column: string) =>
    isInJsonList(language, sql.ref(column), slot('turnIds'))
  return {
    detach: compile<TurnSlice>('detach-conversations-of-slice', (slot) =>
      detachConversations(sql`select turns.id from turns where ${isListed(slot, 'turns.id')}`),
    ),
    release: compile<TurnSlice>('release-media-of-slice', (slot) =>
      releaseMedia(sql`select media_uses.media_id from media_uses
        where ${isListed(slot, 'media_uses.turn_id')}`),
    ),
    deleteRows: TABLES_OF_TURNS.map((table) =>
      compile<TurnSlice>(`delete-${table.table}-of-slice`, (slot) =>
        deleteRowsOfTurns(table, slot('rows'), isListed(slot, `${table.table}.turn_id`)),
      ),
    ),
    deleteTurns: compile<TurnSlice>(
      'delete-turns-of-slice',
      (slot) => sql`delete from turns where ${isListed(slot, 'turns.id')}
        and ${hasNoRows(isListed, slot)} returning id`,
    ),
  }
}

/**
 * Returns a function that builds the queries of one transaction. The query at `turnsAt` deletes the turns, and returns a
 * row for each.
 */
export function createTurnSliceBuilder(language: Engine['language']) {
  const { detach, release, deleteRows, deleteTurns } = createTurnSliceStatements(language)
  const media = createMediaReleaseStatements(language)
  return (
    slice: TurnSlice,
  ): { readonly queries: readonly SqlQuery[]; readonly turnsAt: number } => {
    const before = [detach(slice), release(slice), ...deleteRows.map((rows) => rows(slice))]
    const queries = [...before, deleteTurns(slice), ...buildSweepQueries(media)]
    return { queries, turnsAt: before.length }
  }
}

function deleteRowsOfTurns(
  { table, key, text }: (typeof TABLES_OF_TURNS)[number],
  rows: number,
  isListed: SqlFragment,
): SqlFragment {
  const columns = sql.join(['turn_id', ...key].map((name) => sql.ref(name)))
  const bytes = sql`octet_length(${sql.ref(text)})`
  return sql`delete from ${sql.table(table)} where (${columns}) in (
    select ${columns} from (
      select ${columns}, sum(bytes) over (order by ${columns}) - bytes as bytes_before from (
        select ${columns}, ${bytes} as bytes from ${sql.table(table)} where ${isListed}
        order by ${columns} limit ${rows}) limited) sized
    where bytes_before < ${sql.lit(MAX_SLICE_BYTES)})`
}

function hasNoRows(
  isListed: (slot: ParameterSlot<TurnSlice>, column: string) => SqlFragment,
  slot: ParameterSlot<TurnSlice>,
): SqlFragment {
  const conditions = TABLES_OF_TURNS.map(
    ({ table }) => sql`not exists (select 1 from ${sql.table(table)}
      where ${isListed(slot, `${table}.turn_id`)})`,
  )
  return sql.join(conditions, sql` and `)
}

/**
 * Removes a conversation's head if it is deleted, and its lock if a deleted turn holds it. A
 * conversation without a head continues with an empty history.
 */
function detachConversations(deletedTurns: SqlFragment): SqlFragment {
  return sql`update conversations set
    head = case when head in (${deletedTurns}) then null else head end,
    busy_until = case when busy_by in (${deletedTurns}) then null else busy_until end,
    busy_by = case when busy_by in (${deletedTurns}) then null else busy_by end
    where conversations.id in (select listed.conversation from turns listed
      where listed.id in (${deletedTurns}) and listed.conversation is not null)`
}
