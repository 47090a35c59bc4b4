/**
 * Passes a list of any length as one JSON parameter, because D1 binds at most 100 parameters per
 * statement. Its texts are encoded with `encodeColumn`, so every database accepts them.
 */
import { sql } from 'kysely'
import type { SqlFragment } from './compile-statement.ts'
import type { Engine } from './engine-interface.ts'

/**
 * Returns a table expression for a `from` clause. The texts of the list are in the column
 * `wanted.value`.
 */
export function selectJsonList(language: Engine['language'], list: string): SqlFragment {
  return language === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${list} as jsonb)) as wanted(value)`
    : sql`json_each(${list}) as wanted`
}

/**
 * Returns the condition that a column is in the list. Databases look up each text in the index of
 * the column.
 */
export function isInJsonList(
  language: Engine['language'],
  column: SqlFragment,
  list: string,
): SqlFragment {
  const texts = sql`select wanted.value from ${selectJsonList(language, list)}`
  return language === 'postgres'
    ? sql`${column} = any(array(${texts}))`
    : sql`${column} in (${texts})`
}
