/**
 * A list of any length as one value of a statement, which may have but a hundred of them on D1. Its
 * texts are columns (`encodeColumn`), so that no database refuses what is in them.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Engine } from './engine-interface.ts'

/** Stands in a `from`; each text of the list is `wanted.value`. */
export function selectJsonList(language: Engine['language'], list: string): RawBuilder<unknown> {
  return language === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${list} as jsonb)) as wanted(value)`
    : sql`json_each(${list}) as wanted`
}

/** A condition that follows the column's index, each text by itself. */
export function isInJsonList(
  language: Engine['language'],
  column: RawBuilder<unknown>,
  list: string,
): RawBuilder<unknown> {
  const texts = sql`select wanted.value from ${selectJsonList(language, list)}`
  return language === 'postgres'
    ? sql`${column} = any(array(${texts}))`
    : sql`${column} in (${texts})`
}
