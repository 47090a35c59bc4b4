/**
 * The queries by which turns are found from what a client has left of them. Their number and their
 * parameters are the same for one key and for thousands, and each begins with the keys: of what
 * belongs to others no row is read but by a key that names it.
 */
import { sql, type RawBuilder } from 'kysely'
import { compile, queryBuilder, written, type Slot, type Statement } from './compile.ts'
import type { Engine } from './engine.ts'
import { isWanted, wantedIn } from './json-list.ts'
import { REMEMBERED_COLUMNS } from './read-rows.ts'
import type { OwnerKey } from './owner.ts'
import {
  ITEM_BYTES,
  MAX_NAMESAKES,
  MAX_RECALLED_BYTES,
  MAX_RECALLED_TURNS,
  STEPS,
} from './recall-store.ts'
import { TENANT, USER } from './statements.ts'

export interface RecallStatements {
  readonly recalledTurns: Statement<RecallSearch>
  readonly recalledItems: Statement<ItemSearch>
  readonly touchTurns: Statement<Touch>
}

/** The lists are JSON. */
export interface RecallSearch extends OwnerKey {
  readonly turnIds: string
  readonly callIds: string
  readonly fingerprints: string
}

export interface ItemSearch extends RecallSearch {
  /** Turns whose items are not wanted. */
  readonly atHand: string
}

export interface Touch {
  readonly tenant: string
  readonly turnIds: string
  readonly nowMs: number
}

export function createRecallStatements(language: Engine['language']): RecallStatements {
  const db = queryBuilder(language)
  const columns = sql.join(REMEMBERED_COLUMNS.map((name) => sql.ref(`turns.${name}`)))
  return {
    recalledTurns: compile('recalled-turns', (slot) =>
      written(
        db,
        sql`${withFound(language, slot)} select ${columns}
          from found join turns on turns.id = found.id`,
      ),
    ),
    recalledItems: compile('recalled-items', (slot: Slot<ItemSearch>) =>
      written(
        db,
        sql`${withFound(language, slot)}
          select items.turn_id, items.side, items.position, items.body, items.hidden
          from found join items on items.turn_id = found.id where items.hidden = 0
          and found.id not in (select wanted.value from ${wantedIn(
            language,
            slot((search) => search.atHand),
          )})`,
      ),
    ),
    touchTurns: compile('touch-turns', (slot) => written(db, touchTurns(language, slot))),
  }
}

/**
 * The newest turns that a key names, as many of them as are whole within the bounds.
 *
 * How much is left out of what lies before them is told in steps, and from the oldest turn on, so
 * that a chat beyond the bounds begins with the same turn for as long as a step lasts. A turn that is
 * beyond them by itself is left out, and the others stay.
 */
function withFound<Search extends RecallSearch>(
  language: Engine['language'],
  slot: Slot<Search>,
): RawBuilder<unknown> {
  const turnIds = slot((search) => search.turnIds)
  const fingerprints = slot((search) => search.fingerprints)
  const callIds = slot((search) => search.callIds)
  return sql`with named(id) as (
      select wanted.value from ${wantedIn(language, turnIds)}
    union
      ${newest(language, fingerprints, bySameWords(slot))}
    union
      ${newest(language, callIds, byCall(slot))}
    ), theirs(id, before, total) as (
      select named.id, row_number() over (order by named.id) - 1, count(*) over () from named
      where ${isTheirs(sql`named.id`, slot)}
    ), sized(id, bytes) as (
      select theirs.id, (
        select coalesce(sum(octet_length(items.body) + ${sql.lit(ITEM_BYTES)}), 0)
        from items where items.turn_id = theirs.id) + (
        select coalesce(sum(media.chars), 0) from media_uses
        join media on media.id = media_uses.media_id where media_uses.turn_id = theirs.id)
      from theirs where theirs.before >= ${leftOut(sql`theirs.total`, MAX_RECALLED_TURNS)}
    ), summed(id, before, total) as (
      select sized.id,
      cast(sum(sized.bytes) over (order by sized.id) - sized.bytes as bigint),
      cast(sum(sized.bytes) over () as bigint)
      from sized where sized.bytes <= ${sql.lit(MAX_RECALLED_BYTES)}
    ), found(id) as (
      select summed.id from summed
      where summed.before >= ${leftOut(sql`summed.total`, MAX_RECALLED_BYTES)}
    )`
}

/** As few whole steps as bring the rest within the bound. */
function leftOut(total: RawBuilder<unknown>, bound: number): RawBuilder<unknown> {
  const step = bound / STEPS
  return sql`case when ${total} <= ${sql.lit(bound)} then 0
    else (${total} - ${sql.lit(bound - step + 1)}) / ${sql.lit(step)} * ${sql.lit(step)} end`
}

/** For each key of a list what `select` yields for it, which both languages say in their own way. */
function newest(
  language: Engine['language'],
  list: string,
  select: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const wanted = wantedIn(language, list)
  return language === 'postgres'
    ? sql`select same.id from ${wanted} cross join lateral (${select}) same`
    : sql`select turns.id from ${wanted} left join turns on turns.id in (${select})`
}

/** Compared as it stands in the index, all of it. */
function bySameWords<Search extends RecallSearch>(slot: Slot<Search>): RawBuilder<unknown> {
  return sql`select same.id from turns same where same.fingerprint = wanted.value
    and same.tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(same.user_id, '') = ${slot(({ user }) => user)}
    and same.deleted_at is null and same.state <> 'queued'
    order by same.id desc limit ${sql.lit(MAX_NAMESAKES)}`
}

/**
 * An item does not know its user. Where users share a tenant and their provider uses the same ids
 * again and again, only so many of them are looked at.
 */
function byCall<Search extends RecallSearch>(slot: Slot<Search>): RawBuilder<unknown> {
  return sql`select called.turn_id as id from (
      select distinct calls.turn_id from items calls
      where calls.tenant = ${slot(({ tenant }) => tenant)} and calls.call_id = wanted.value
      and calls.side = 'out'
      order by calls.turn_id desc limit ${sql.lit(MAX_CALLS)}
    ) called where ${isTheirs(sql`called.turn_id`, slot)}
    order by called.turn_id desc limit ${sql.lit(MAX_NAMESAKES)}`
}

const MAX_CALLS = 100

/**
 * Compared with one row that is looked up by its id: of a join, a planner without statistics may
 * begin with the wrong end.
 */
function isTheirs<Search extends RecallSearch>(
  id: RawBuilder<unknown>,
  slot: Slot<Search>,
): RawBuilder<unknown> {
  return sql`1 = (select 1 from turns where turns.id = ${id}
    and ${TENANT} = ${slot(({ tenant }) => tenant)}
    and ${USER} = ${slot(({ user }) => user)}
    and turns.deleted_at is null and turns.state <> 'queued')`
}

/** It never goes back: of two that need a turn, the clock of one may be late. */
function touchTurns(language: Engine['language'], slot: Slot<Touch>): RawBuilder<unknown> {
  const turnIds = slot((touch) => touch.turnIds)
  const now = slot(({ nowMs }) => nowMs)
  return sql`update turns set used_at = ${now}
    where ${isWanted(language, sql`turns.id`, turnIds)}
    and ${TENANT} = ${slot(({ tenant }) => tenant)} and used_at + 0 < ${now}`
}
