/**
 * SQL that finds turns by markers, call ids and fingerprints from a client's chat. The statement
 * has the same number of parameters for one key and for thousands. It looks up each key in an index
 * and checks the owner of every row that it finds, so it never returns rows of other owners, and
 * does not scan all turns of the owner.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isTurnErased, selectDeletedAt } from '../deletion/erased-conditions.ts'
import { isInJsonList, selectJsonList } from '../database/json-list-parameter.ts'
import { isTurnOfOwner, TURN_TENANT, type OwnerKey } from '../owner.ts'
import { MAX_BYTES_AT_ONCE } from '../turns/read-items-in-slices.ts'
import { countItemsOfTurns, STORED_SIZE_BYTES, type TurnIdList } from '../turns/turn-statements.ts'
import { RECALLED_COLUMNS } from './decode-recalled-turns.ts'
import { MAX_TURNS_PER_KEY, MAX_RECALLED_TURNS } from './recall-store-interface.ts'

/** The keys of a search, encoded as JSON lists. */
export interface RecallSearch extends OwnerKey {
  readonly turnIds: string
  readonly callIds: string
  readonly fingerprints: string
  /** Ids of turns whose items are cached, so that the search does not return them. */
  readonly cachedTurnIds: string
}

export interface TurnTouch {
  readonly tenant: string
  /** A JSON list of ids. */
  readonly turnIds: string
  readonly nowMs: number
}

export function createRecallStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Returns a `RecallSearchRow` for each turn, and one for each of its items. */
    searchTurns: compile<RecallSearch>('recalled', (slot) => searchTurns(language, slot)),
    selectItems: compile<TurnIdList>('recalled-items', (slot) => selectItems(language, slot)),
    countItems: compile<TurnIdList>('count-recalled-items', (slot) =>
      countItemsOfTurns(language, slot),
    ),
    touchTurns: compile<TurnTouch>('touch-turns', (slot) => touchTurns(language, slot)),
  }
}

/**
 * Selects turns and their items in one statement, because finding the turns is most of the work.
 * Selects no items if the turns exceed a limit, or are too large to be read at once. Outer joins make
 * planners start with the found turns. A turn without items returns a row of nulls.
 */
function searchTurns(language: Engine['language'], slot: ParameterSlot<RecallSearch>): SqlFragment {
  const cachedTurnIds = selectJsonList(language, slot('cachedTurnIds'))
  const isNotCached = sql`found.id not in (select wanted.value from ${cachedTurnIds})`
  return sql`with recursive named(id) as (
      select wanted.value from ${selectJsonList(language, slot('turnIds'))}
      where ${isFindable(sql`wanted.value`, slot)}
    union
      ${selectForEachKey(language, slot('fingerprints'), selectByFingerprint(slot))}
    union
      ${selectForEachKey(language, slot('callIds'), selectByCallId(slot))}
    ), with_starts(id) as (
      select named.id from named
    union
      select (select turns.parent from turns where turns.id = with_starts.id) from with_starts
      where ${continuesParent(sql`with_starts.id`, slot)}
    ), found(id, bytes, body) as materialized (
      select turns.id, ${STORED_SIZE_BYTES}, ${buildTurnJson(language)}
      from with_starts left join turns on turns.id = with_starts.id where with_starts.id is not null
    )
    select found.id as turn_id, 'turn' as side, found.bytes as position, found.body from found
    union all
    select items.turn_id, items.side, items.position, items.body
    from found left join items on items.turn_id = found.id and items.hidden = 0
    where ${isNotCached}
    and (select coalesce(sum(found.bytes), 0) from found where ${isNotCached})
      <= ${sql.lit(MAX_BYTES_AT_ONCE)}
    and (select count(*) from found) <= ${sql.lit(MAX_RECALLED_TURNS)}`
}

/**
 * True if the turn has no new input, so that it continues the answer of its parent. The client
 * shows both answers as one message with one fingerprint, so the parent may have no key of its own.
 * Looks up one row, for the reason given at `isFindable`.
 */
function continuesParent(id: SqlFragment, slot: ParameterSlot<RecallSearch>): SqlFragment {
  return sql`1 = (select 1 from turns later where later.id = ${id}
    and (select items.side from items where items.turn_id = later.id and items.side = 'in' limit 1)
      is null
    and ${isFindable(sql`later.parent`, slot)})`
}

/** Builds a JSON object of the columns `RECALLED_COLUMNS` of a turn. */
function buildTurnJson(language: Engine['language']): SqlFragment {
  const fields = RECALLED_COLUMNS.map((name) => sql`${sql.lit(name)}, ${sql.ref(`turns.${name}`)}`)
  return language === 'postgres'
    ? sql`cast(json_build_object(${sql.join(fields)}) as text)`
    : sql`json_object(${sql.join(fields)})`
}

/** Selects the items of the turns, as rows of the same form as those of a search. */
function selectItems(language: Engine['language'], slot: ParameterSlot<TurnIdList>): SqlFragment {
  const turnIds = slot('turnIds')
  return sql`select items.turn_id, items.side, items.position, items.body
    from ${selectJsonList(language, turnIds)}
    left join items on items.turn_id = wanted.value and items.hidden = 0`
}

/**
 * Runs the subquery `select` for each key of a list. Differs by database, because SQLite has no
 * lateral joins.
 */
function selectForEachKey(
  language: Engine['language'],
  list: string,
  select: SqlFragment,
): SqlFragment {
  const wanted = selectJsonList(language, list)
  return language === 'postgres'
    ? sql`select same.id from ${wanted} cross join lateral (${select}) same`
    : sql`select turns.id from ${wanted} left join turns on turns.id in (${select})`
}

/**
 * Selects the turns with a fingerprint. The condition matches the index on fingerprints, so that
 * the database reads no other rows.
 */
function selectByFingerprint(slot: ParameterSlot<RecallSearch>): SqlFragment {
  return sql`select same.id from turns same where same.fingerprint = wanted.value
    and same.tenant = ${slot('tenant')}
    and coalesce(same.user_id, '') = ${slot('user')}
    and ${selectDeletedAt('same')} is null and same.state <> 'queued'
    and not ${isTurnErased('same')}
    order by same.id desc limit ${sql.lit(MAX_TURNS_PER_KEY)}`
}

/**
 * Selects the latest turns with a call id, at most `MAX_TURNS_PER_KEY`, among the owner's last 100
 * calls with that id. Rows without a stored owner are older than the column `called_for`: of these,
 * the last 100 of all users are checked.
 */
function selectByCallId(slot: ParameterSlot<RecallSearch>): SqlFragment {
  const selectCalls = (isOwner: SqlFragment) => sql`select * from (
      select distinct calls.turn_id from items calls
      where calls.tenant = ${slot('tenant')} and ${isOwner}
      and calls.call_id = wanted.value
      order by calls.turn_id desc limit ${sql.lit(MAX_CALLS_PER_ID)}
    ) latest_calls`
  return sql`select called.turn_id as id from (
      ${selectCalls(sql`calls.called_for = ${slot('user')}`)}
    union
      ${selectCalls(sql`calls.called_for is null and calls.side = 'out'`)}
    ) called where ${isFindable(sql`called.turn_id`, slot)}
    order by called.turn_id desc limit ${sql.lit(MAX_TURNS_PER_KEY)}`
}

const MAX_CALLS_PER_ID = 100

/**
 * True if the turn with this id belongs to the owner and can be found. Written as a lookup of one
 * row: with a join, a planner without statistics may start with the wrong table.
 */
function isFindable(id: SqlFragment, slot: ParameterSlot<RecallSearch>): SqlFragment {
  return sql`1 = (select 1 from turns where turns.id = ${id}
    and ${isTurnOfOwner(slot)}
    and ${selectDeletedAt()} is null and turns.state <> 'queued')`
}

/** Sets the time of last use, but never lowers it, because the clock of a replica may be slow. */
function touchTurns(language: Engine['language'], slot: ParameterSlot<TurnTouch>): SqlFragment {
  const turnIds = slot('turnIds')
  const now = slot('nowMs')
  return sql`update turns set used_at = ${now}
    where ${isInJsonList(language, sql`turns.id`, turnIds)}
    and ${TURN_TENANT} = ${slot('tenant')} and used_at + 0 < ${now}`
}
