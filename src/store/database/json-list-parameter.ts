/**
 * Passes a list of texts as one JSON parameter, because D1 binds at most 100 parameters per
 * statement. The texts are encoded with `encodeColumnText`, because databases reject some characters.
 */
import { sql } from 'kysely'
import type { SqlFragment } from './compile-statement.ts'
import type { Engine } from './engine-interface.ts'

/**
 * Returns a table expression for a `from` clause: a table `wanted` with a row for each text of the
 * list, in the column `value`.
 */
export function selectJsonList(language: Engine['language'], list: string): SqlFragment {
  return language === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${list} as jsonb)) as wanted(value)`
    : sql`json_each(${list}) as wanted`
}

/** Returns the condition that the value of a column is in the list. */
export function isInJsonList(
  language: Engine['language'],
  column: SqlFragment,
  list: string,
): SqlFragment {
  return isInSelection(
    language,
    column,
    sql`select wanted.value from ${selectJsonList(language, list)}`,
  )
}

/**
 * Returns the condition that the value of a column is among the selected ones. Written so that databases look up each
 * of them in the index of the column.
 */
export function isInSelection(
  language: Engine['language'],
  column: SqlFragment,
  selection: SqlFragment,
): SqlFragment {
  return language === 'postgres'
    ? sql`${column} = any(array(${selection}))`
    : sql`${column} in (${selection})`
}

/**
 * Selects the rows of a table that meet a condition, for each text of a list. The condition compares columns
 * with `wanted.value`. Databases look up each text: on SQLite, `cross join` keeps the order of the tables;
 * on Postgres, `offset 0` prevents the planner from reading more rows and comparing them afterwards.
 */
export function selectForEachText(
  language: Engine['language'],
  list: string,
  { columns, table, condition }: Readonly<Record<'columns' | 'table' | 'condition', SqlFragment>>,
): SqlFragment {
  const texts = selectJsonList(language, list)
  return language === 'postgres'
    ? sql`select same.* from ${texts} cross join lateral (
        select ${columns} from ${table} where ${condition} offset 0) same`
    : sql`select ${columns} from ${texts} cross join ${table} where ${condition}`
}
