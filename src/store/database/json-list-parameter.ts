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

/**
 * Returns the condition that the value of a column is in the list. Written so that databases look
 * up each text in the index of the column.
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
