/**
 * The query by which turns are found from what a client has left of them. It is one, with the same
 * parameters, for one key and for thousands, and begins with the keys: of what belongs to others no
 * row is read but by a key that names it.
 */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList, selectJsonList } from '../database/json-list-parameter.ts'
import { RECALLED_COLUMNS } from './decode-recalled-turns.ts'
import type { OwnerKey } from '../owner.ts'
import { MAX_NAMESAKES, MAX_RECALLED_BYTES, MAX_RECALLED_TURNS } from './recall-store-interface.ts'
import { isTurnOfOwner, TURN_TENANT } from '../turns/turn-statements.ts'
import { TURN_SIZE_BYTES } from '../turns/turn-size-expression.ts'

export interface RecallStatements {
  /** A row for each turn, and one for each of its items: a `FoundRow`. */
  readonly recalled: CompiledStatement<RecallSearch>
  readonly itemsOf: CompiledStatement<RecalledItemLookup>
  readonly touchTurns: CompiledStatement<TurnTouch>
}

/** The lists are JSON. */
export interface RecallSearch extends OwnerKey {
  readonly turnIds: string
  readonly callIds: string
  readonly fingerprints: string
  /** Turns whose items are not wanted. */
  readonly atHand: string
}

export interface RecalledItemLookup {
  readonly turnIds: string
}

export interface TurnTouch {
  readonly tenant: string
  readonly turnIds: string
  readonly nowMs: number
}

export function createRecallStatements(language: Engine['language']): RecallStatements {
  const query = createSqlCompiler(language)
  return {
    recalled: query('recalled', (slot) => recalled(language, slot)),
    itemsOf: query('recalled-items', (slot) => itemsOf(language, slot)),
    touchTurns: query('touch-turns', (slot) => touchTurns(language, slot)),
  }
}

/**
 * Turns and items in one, because looking for the turns is most of the work; without items, if all of
 * them are more than may be read. Outer joins leave no choice but to begin with what was found; of a
 * turn without items comes a row of nulls.
 */
function recalled(
  language: Engine['language'],
  slot: ParameterSlot<RecallSearch>,
): RawBuilder<unknown> {
  const { turnIds, fingerprints, callIds, atHand } = listsOf(slot)
  return sql`with recursive named(id) as (
      select wanted.value from ${selectJsonList(language, turnIds)}
      where ${isTheirs(sql`wanted.value`, slot)}
    union
      ${newest(language, fingerprints, bySameWords(slot))}
    union
      ${newest(language, callIds, byCall(slot))}
    ), begun(id) as (
      select named.id from named
    union
      select (select turns.parent from turns where turns.id = begun.id) from begun
      where ${isContinuation(sql`begun.id`, slot)}
    ), found(id, bytes, body) as materialized (
      select turns.id, cast(coalesce(turns.bytes, ${TURN_SIZE_BYTES}) as bigint), ${asJson(language)}
      from begun left join turns on turns.id = begun.id where begun.id is not null
    )
    select found.id as turn_id, 'turn' as side, found.bytes as position, found.body from found
    union all
    select items.turn_id, items.side, items.position, items.body
    from found left join items on items.turn_id = found.id and items.hidden = 0
    where found.id not in (select wanted.value from ${selectJsonList(language, atHand)})
    and (select sum(found.bytes) from found) <= ${sql.lit(MAX_RECALLED_BYTES)}
    and (select count(*) from found) <= ${sql.lit(MAX_RECALLED_TURNS)}`
}

/**
 * What a turn that was asked nothing new went on with is of the same run, whose words have another name
 * by then, and it may have no marker. Compared as in `isTheirs`, for the same reason.
 */
function isContinuation(
  id: RawBuilder<unknown>,
  slot: ParameterSlot<RecallSearch>,
): RawBuilder<unknown> {
  return sql`1 = (select 1 from turns later where later.id = ${id}
    and (select items.side from items where items.turn_id = later.id and items.side = 'in' limit 1)
      is null
    and ${isTheirs(sql`later.parent`, slot)})`
}

function listsOf(slot: ParameterSlot<RecallSearch>) {
  return {
    turnIds: slot((search) => search.turnIds),
    fingerprints: slot((search) => search.fingerprints),
    callIds: slot((search) => search.callIds),
    atHand: slot((search) => search.atHand),
  }
}

/** What is remembered of a turn, in the column of a text. */
function asJson(language: Engine['language']): RawBuilder<unknown> {
  const fields = RECALLED_COLUMNS.map((name) => sql`${sql.lit(name)}, ${sql.ref(`turns.${name}`)}`)
  return language === 'postgres'
    ? sql`cast(json_build_object(${sql.join(fields)}) as text)`
    : sql`json_object(${sql.join(fields)})`
}

/** The items of these turns alone, in the same rows. */
function itemsOf(
  language: Engine['language'],
  slot: ParameterSlot<RecalledItemLookup>,
): RawBuilder<unknown> {
  const turnIds = slot((search) => search.turnIds)
  return sql`select items.turn_id, items.side, items.position, items.body
    from ${selectJsonList(language, turnIds)}
    left join items on items.turn_id = wanted.value and items.hidden = 0`
}

/** For each key of a list what `select` yields for it, which both languages say in their own way. */
function newest(
  language: Engine['language'],
  list: string,
  select: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const wanted = selectJsonList(language, list)
  return language === 'postgres'
    ? sql`select same.id from ${wanted} cross join lateral (${select}) same`
    : sql`select turns.id from ${wanted} left join turns on turns.id in (${select})`
}

/** Compared as it stands in the index, all of it. */
function bySameWords(slot: ParameterSlot<RecallSearch>): RawBuilder<unknown> {
  return sql`select same.id from turns same where same.fingerprint = wanted.value
    and same.tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(same.user_id, '') = ${slot(({ user }) => user)}
    and same.deleted_at is null and same.state <> 'queued'
    order by same.id desc limit ${sql.lit(MAX_NAMESAKES)}`
}

/**
 * The newest that are there, of only so many of one's own that were deleted or wait. Of a call from before
 * it was known whose it is, only so many of everybody's are looked at.
 */
function byCall(slot: ParameterSlot<RecallSearch>): RawBuilder<unknown> {
  const called = (whose: RawBuilder<unknown>) => sql`select * from (
      select distinct calls.turn_id from items calls
      where calls.tenant = ${slot(({ tenant }) => tenant)} and ${whose}
      and calls.call_id = wanted.value
      order by calls.turn_id desc limit ${sql.lit(MAX_CALLS)}
    ) some_calls`
  return sql`select called.turn_id as id from (
      ${called(sql`calls.called_for = ${slot(({ user }) => user)}`)}
    union
      ${called(sql`calls.called_for is null and calls.side = 'out'`)}
    ) called where ${isTheirs(sql`called.turn_id`, slot)}
    order by called.turn_id desc limit ${sql.lit(MAX_NAMESAKES)}`
}

const MAX_CALLS = 100

/**
 * Compared with one row that is looked up by its id: of a join, a planner without statistics may
 * begin with the wrong end.
 */
function isTheirs(id: RawBuilder<unknown>, slot: ParameterSlot<RecallSearch>): RawBuilder<unknown> {
  return sql`1 = (select 1 from turns where turns.id = ${id}
    and ${isTurnOfOwner(slot)}
    and turns.deleted_at is null and turns.state <> 'queued')`
}

/** It never goes back: of two that need a turn, the clock of one may be late. */
function touchTurns(
  language: Engine['language'],
  slot: ParameterSlot<TurnTouch>,
): RawBuilder<unknown> {
  const turnIds = slot((touch) => touch.turnIds)
  const now = slot(({ nowMs }) => nowMs)
  return sql`update turns set used_at = ${now}
    where ${isInJsonList(language, sql`turns.id`, turnIds)}
    and ${TURN_TENANT} = ${slot(({ tenant }) => tenant)} and used_at + 0 < ${now}`
}
