/** SQL that finds the facts of an owner by their words or scopes. */
import { sql } from 'kysely'
import type { ParameterSlot, SqlFragment } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { selectForEachText } from '../database/json-list-parameter.ts'
import { FACT_COLUMNS } from '../database/table-row-types.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'
import { isRowOfOwner, type OwnerKey } from '../owner.ts'

/** `scopes` and `termHashes` are JSON lists. */
export interface FactTermSearch extends OwnerKey {
  readonly scopes: string
  readonly termHashes: string
  readonly nowMs: number
  readonly limit: number
}

/**
 * Maximum number of facts that are counted for a term. A term that reaches it is treated as if
 * every fact contained it.
 */
export const MAX_COUNTED_FACTS = 200

export const FACT_COLUMN_LIST = sql.join(FACT_COLUMNS.map((name) => sql.ref(`facts.${name}`)))

/** Selects the facts of the owner that are in one of the scopes. */
export function selectInScopes(
  language: Engine['language'],
  slot: ParameterSlot<Omit<FactTermSearch, 'termHashes'>>,
  { columns, condition }: Readonly<Record<'columns' | 'condition', SqlFragment>>,
): SqlFragment {
  return selectForEachText(language, slot('scopes'), {
    columns,
    table: sql`facts`,
    condition: sql`${isRowOfOwner('facts', slot)} and facts.scope = wanted.value and ${condition}`,
  })
}

/**
 * Builds the subquery `hits`, which pairs each term with the facts that contain it. For a very
 * frequent term it contains only the latest 200 facts, so that the duration of a search does not
 * grow with the number of facts.
 */
export function withHits(
  language: Engine['language'],
  slot: ParameterSlot<FactTermSearch>,
): SqlFragment {
  const [tenant, user] = [slot('tenant'), slot('user')]
  const termHashes = slot('termHashes')
  const scopes = slot('scopes')
  const isOwn = sql`fact_words.tenant = ${tenant} and fact_words.user_key = ${user}`
  const isSought = sql`${isOwn} and fact_words.scope = sought.scope and fact_words.word = sought.word
    and fact_words.fact_id >= sought.first`
  return sql`sought as (
      select words.value as word, scopes.value as scope, coalesce((
        select fact_words.fact_id from fact_words where ${isOwn}
        and fact_words.scope = scopes.value and fact_words.word = words.value
        order by fact_words.fact_id desc limit 1 offset ${sql.lit(MAX_COUNTED_FACTS - 1)}), '') as first
      from ${selectListAs(language, termHashes, 'words')} cross join ${selectListAs(language, scopes, 'scopes')}
    ), hits as (
      ${selectHits(language, isSought)}
    )`
}

/**
 * Looks up each sought term. On SQLite, `cross join` keeps the order of the tables; on Postgres,
 * `offset 0` prevents the planner from reading all terms of the owner instead.
 */
function selectHits(language: Engine['language'], isSought: SqlFragment): SqlFragment {
  return language === 'postgres'
    ? sql`select same.fact_id, same.word from sought cross join lateral (
        select fact_words.fact_id, fact_words.word from fact_words where ${isSought} offset 0) same`
    : sql`select fact_words.fact_id, fact_words.word from sought cross join fact_words where ${isSought}`
}

function selectListAs(
  language: Engine['language'],
  list: string,
  name: 'words' | 'scopes',
): SqlFragment {
  return language === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${list} as jsonb)) as ${sql.ref(name)}(value)`
    : sql`json_each(${list}) as ${sql.ref(name)}`
}

/**
 * True for facts that have not expired. Expired facts are not found, even before they are deleted.
 */
function isValid(slot: ParameterSlot<Omit<FactTermSearch, 'termHashes'>>): SqlFragment {
  return sql`(facts.valid_until is null or facts.valid_until > ${slot('nowMs')})`
}

/** Ranks facts by the sum of their terms' weights. A term in fewer facts has a higher weight. */
export function searchFacts(
  language: Engine['language'],
  slot: ParameterSlot<FactTermSearch>,
): SqlFragment {
  return sql`with ${withHits(language, slot)}, weights as (
      select word, 1.0 / count(*) as weight from hits group by word
    ), best as (
      select hits.fact_id, sum(weights.weight) as weight
      from hits join weights on weights.word = hits.word join facts on facts.id = hits.fact_id
      where ${isValid(slot)} and not ${isRowErased('facts')} group by hits.fact_id
      order by weight desc, hits.fact_id desc limit ${slot('limit')}
    )
    select ${FACT_COLUMN_LIST} from best join facts on facts.id = best.fact_id
    order by best.weight desc, facts.id desc`
}

export function selectCoreFacts(
  language: Engine['language'],
  slot: ParameterSlot<Omit<FactTermSearch, 'termHashes'>>,
): SqlFragment {
  const condition = sql`facts.core = 1 and ${isValid(slot)}`
  return sql`select * from (${selectInScopes(language, slot, { columns: FACT_COLUMN_LIST, condition })}) found
    order by importance desc, id limit ${slot('limit')}`
}
