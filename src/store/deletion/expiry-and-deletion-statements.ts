/**
 * SQL that deletes turns: expired turns, and the turns of a thread or user. The items of a turn are
 * deleted with it.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { DATABASE_TIME } from '../leases/lease-conditions.ts'
import { isInJsonList, selectJsonList } from '../database/json-list-parameter.ts'
import { releaseMedia } from '../media/media-statements.ts'
import { isTurnOfOwner, TURN_TENANT, type OwnerKey } from '../owner.ts'

export type ExpiringChats = 'all' | 'temporary'

export interface UnusedRowLimit {
  readonly unusedSinceMs: number
  readonly limit: number
}

export interface ExpiryPage {
  readonly unusedSinceMs: number
  readonly afterMs: number
  readonly afterId: string
  readonly limit: number
}

/** Turns that one transaction deletes if they are still unused. */
export interface ExpirySlice {
  readonly unusedSinceMs: number
  /** A JSON list of ids. */
  readonly turnIds: string
}

/**
 * Identifies a thread by the id of any of its turns. Without a user, the key matches data of all
 * users of the tenant in that thread.
 */
export interface ThreadKey {
  readonly tenant: string
  readonly turnId: string
  readonly user: string | null
}

export interface UserKey {
  readonly tenant: string
  readonly user: string
}

export function createExpiryAndDeletionStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const compileByChats = <Key extends { readonly unusedSinceMs: number }>(
    name: string,
    build: (slot: ParameterSlot<Key>, chats: ExpiringChats) => SqlFragment,
  ) => {
    const statement = (chats: ExpiringChats) =>
      compile<Key>(`${name}-${chats}`, (slot) => build(slot, chats))
    const statements = { all: statement('all'), temporary: statement('temporary') }
    return (chats: ExpiringChats) => statements[chats]
  }
  const withListed = (slot: ParameterSlot<ExpirySlice>, chats: ExpiringChats) =>
    withDeletableTurns(slot, chats, {
      language,
      page: sql`select wanted.value from ${selectJsonList(language, slot('turnIds'))}`,
      isInReach: isInJsonList(language, sql`turns.id`, slot('turnIds')),
    })
  return {
    /** Returns a page of turns that were not used for a long time, the latest first. */
    unusedTurns: compileByChats<ExpiryPage>(
      'unused-turns',
      (slot, chats) => sql`select turns.used_at, turns.id ${fromPageOfUnused(slot, chats)}`,
    ),
    /**
     * Returns the turns that can be deleted, children before their parents: those of the page that nothing needs,
     * and ancestors that nothing needs after that.
     */
    deletableTurns: compileByChats<ExpiryPage>(
      'deletable-turns',
      (slot, chats) =>
        sql`${withDeletableTurns(slot, chats, {
          language,
          page: sql`select turns.id ${fromPageOfUnused(slot, chats)}`,
          isInReach: sql`1 = 1`,
        })} select deletable.id, deletable.bytes from deletable limit ${slot('limit')}`,
    ),
    // This and the next statements check again which turns can be deleted, because a turn may have been used since
    // the page was read.
    deleteEventsOfUnused: compileByChats<ExpirySlice>(
      'delete-events-of-unused',
      (slot, chats) => sql`${withListed(slot, chats)}
        delete from stream_events where turn_id in (${DELETABLE_IDS})`,
    ),
    releaseMediaOfUnused: compileByChats<ExpirySlice>(
      'release-media-of-unused',
      (slot, chats) => sql`${withListed(slot, chats)}
        ${releaseMedia(sql`select media_uses.media_id from media_uses
          where media_uses.turn_id in (${DELETABLE_IDS})`)}`,
    ),
    removeUnused: compileByChats<ExpirySlice>(
      'remove-unused',
      (slot, chats) => sql`${withListed(slot, chats)}
        delete from turns where id in (${DELETABLE_IDS}) and ${isExpiredOrDeleted(slot, chats)} returning id`,
    ),
    /** Marks turns as deleted that are too large for one transaction. */
    markUnused: compileByChats<ExpirySlice & { readonly nowMs: number }>(
      'mark-unused',
      (slot, chats) => sql`${withListed(slot, chats)}
        update turns set deleted_at = coalesce(deleted_at, cast(${slot('nowMs')} as bigint))
        where id in (${DELETABLE_IDS}) and ${isExpiredOrDeleted(slot, chats)} returning id`,
    ),
  }
}

const DELETABLE_IDS = sql`select deletable.id from deletable`

type UnusedSince = { readonly unusedSinceMs: number }

function isUnused<Key extends UnusedSince>(
  slot: ParameterSlot<Key>,
  chats: ExpiringChats,
): SqlFragment {
  const unused = sql`turns.used_at < ${slot(({ unusedSinceMs }: Key) => unusedSinceMs)}`
  return chats === 'all' ? unused : sql`turns.short_lived = 1 and ${unused}`
}

/**
 * The start of the page is never later than `unusedSinceMs`. A second condition on the time would make SQLite read the
 * index from its end on each page.
 */
function fromPageOfUnused(slot: ParameterSlot<ExpiryPage>, chats: ExpiringChats): SqlFragment {
  return sql`from turns where ${chats === 'all' ? sql`` : sql`turns.short_lived = 1 and`}
    (turns.used_at, turns.id) < (${slot('afterMs')}, ${slot('afterId')})
    order by turns.used_at desc, turns.id desc limit ${slot('limit')}`
}

interface DeletableParts {
  readonly language: Engine['language']
  /** Selects the ids of the turns to begin with. */
  readonly page: SqlFragment
  /** True for ancestors that may be selected, too. */
  readonly isInReach: SqlFragment
}

/**
 * Selects the turns of the page that have no children, and then those of their ancestors that have
 * no other children. An ancestor that is marked as deleted is selected even if it was used
 * recently.
 */
function withDeletableTurns<Key extends UnusedSince>(
  slot: ParameterSlot<Key>,
  chats: ExpiringChats,
  { language, page, isInReach }: DeletableParts,
): SqlFragment {
  return sql`with recursive page(id) as (${page}),
    deletable(id, parent, bytes) as (
      select turns.id, turns.parent, coalesce(turns.bytes, 0) from page join turns on turns.id = page.id
      where ${isExpiredOrDeleted(slot, chats)} and ${isUnreferenced(language)}
      and not exists (select 1 from turns child where child.parent = turns.id)
    union
      select turns.id, turns.parent, coalesce(turns.bytes, 0)
      from deletable join turns on turns.id = deletable.parent
      where ${isInReach} and ${isExpiredOrDeleted(slot, chats)} and ${isUnreferenced(language)}
      and not exists (
        select 1 from turns child where child.parent = turns.id and child.id <> deletable.id)
    )`
}

function isExpiredOrDeleted<Key extends UnusedSince>(
  slot: ParameterSlot<Key>,
  chats: ExpiringChats,
): SqlFragment {
  return sql`((${isUnused(slot, chats)}) or turns.deleted_at is not null)`
}

/** True if no conversation uses the turn and no live replica works on it. */
function isUnreferenced(language: Engine['language']): SqlFragment {
  return sql`not exists (select 1 from conversations where conversations.head = turns.id)
    and not exists (select 1 from conversations where conversations.id = turns.conversation)
    and not (turns.state in ('queued', 'open') and exists (
      select 1 from replicas where replicas.id = turns.owner
      and replicas.alive_until > ${DATABASE_TIME[language]}))`
}

/**
 * Selects an expression from the turn with the id `turnId`, if the requester may delete that turn.
 * Must run before the turn is deleted.
 */
export function selectFromDeletableTurn(
  slot: ParameterSlot<ThreadKey>,
  expression: SqlFragment,
): SqlFragment {
  return sql`select ${expression} from turns where turns.id = ${slot('turnId')}
    and ${TURN_TENANT} = ${slot('tenant')} and ${belongsToRequester(slot, sql`turns.user_id`)}`
}

/**
 * True for rows whose thread is that of the turn `id`, if all turns of that thread are marked as
 * deleted. Must run after the turn is marked as deleted and before its row is deleted.
 */
export function isInDeletedThread(
  table: 'summaries' | 'media_addresses',
  slot: ParameterSlot<OwnerKey & { readonly id: string }>,
): SqlFragment {
  const tenant = slot('tenant')
  return sql`${sql.ref(`${table}.tenant`)} || '' = ${tenant}
    and ${sql.ref(`${table}.thread`)} = (
      select turns.thread from turns where turns.id = ${slot('id')}
      and ${isTurnOfOwner(slot)})
    and ${hasNoTurnsLeft(sql.ref(`${table}.thread`), tenant)}`
}

/**
 * True if all turns of a thread are deleted or marked as deleted. Not written as `not exists`,
 * because without statistics a planner would then scan all turns of the tenant instead of looking
 * up each thread.
 */
export function hasNoTurnsLeft(thread: SqlFragment, tenant: string): SqlFragment {
  return sql`(select remaining.id from turns remaining where remaining.tenant = ${tenant}
    and remaining.thread = ${thread} and remaining.deleted_at is null limit 1) is null`
}

/**
 * True if the row belongs to the requester. A request without a user comes from an operator, who
 * may delete data of all users of the tenant.
 */
export function belongsToRequester(
  slot: ParameterSlot<ThreadKey>,
  column: SqlFragment,
): SqlFragment {
  const user = slot('user')
  return sql`(cast(${user} as text) is null or ${column} || '' = ${user})`
}

/**
 * Compiles a statement that deletes up to `limit` rows that were not used since `unusedSinceMs`,
 * those unused for longest first.
 */
export function compileDeleteUnused(
  language: Engine['language'],
  table: 'answer_messages' | 'summaries' | 'layer_versions',
  name: string,
): (chats: ExpiringChats) => CompiledStatement<UnusedRowLimit> {
  const compile = createStatementCompiler(language)
  const rows = sql.table(table)
  const compileFor = (suffix: string, isShort: SqlFragment) =>
    compile<UnusedRowLimit>(`${name}${suffix}`, (slot) => {
      const since = slot('unusedSinceMs')
      // Checks `used_at` of each row again, because a row may have been used since it was selected.
      return sql`delete from ${rows} where used_at < ${since} and id in (
        select id from ${rows} where used_at < ${since} ${isShort}
        order by used_at limit ${slot('limit')}) returning id`
    })
  const statements = {
    all: compileFor('', sql``),
    temporary: compileFor('-temporary', sql`and short_lived = 1`),
  }
  return (chats) => statements[chats]
}
