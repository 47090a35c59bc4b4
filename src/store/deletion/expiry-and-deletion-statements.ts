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

/** The statements of one deletion, in the order in which they run in one transaction. */
export interface DeletionSteps<Key> {
  /** Removes a conversation's head if it is deleted, and its lock if a deleted turn holds it. */
  readonly detachConversations: CompiledStatement<Key>
  readonly deleteEvents: CompiledStatement<Key>
  /** Deletes the turns and returns a row for each. */
  readonly removeTurns: CompiledStatement<Key>
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
  const compileByChats = (
    name: string,
    build: (slot: ParameterSlot<ExpiryPage>, chats: ExpiringChats) => SqlFragment,
  ) => {
    const statement = (chats: ExpiringChats) =>
      compile<ExpiryPage>(`${name}-${chats}`, (slot) => build(slot, chats))
    const statements = { all: statement('all'), temporary: statement('temporary') }
    return (chats: ExpiringChats) => statements[chats]
  }
  const compileDeletion = <Key extends { readonly tenant: string }>(
    name: string,
    isIncluded: (slot: ParameterSlot<Key>) => SqlFragment,
  ): DeletionSteps<Key> => ({
    detachConversations: compile(`leave-conversations-${name}`, (slot) =>
      detachConversations(isIncluded(slot), slot('tenant')),
    ),
    deleteEvents: compile(
      `delete-events-${name}`,
      (slot) => sql`delete from stream_events where turn_id in (
        select turns.id from turns where ${isIncluded(slot)})`,
    ),
    removeTurns: compile(
      `remove-turns-${name}`,
      (slot) => sql`delete from turns where ${isIncluded(slot)} returning id`,
    ),
  })
  return {
    /** Returns a page of turns that were not used for a long time, the latest first. */
    unusedTurns: compileByChats(
      'unused-turns',
      (slot, chats) => sql`select turns.used_at, turns.id ${fromPageOfUnused(slot, chats)}`,
    ),
    deleteEventsOfUnused: compileByChats(
      'delete-events-of-unused',
      (slot, chats) => sql`${withDeletableTurns(slot, chats, language)}
        delete from stream_events where turn_id in (${selectDeletable(slot)})`,
    ),
    releaseMediaOfUnused: compileByChats(
      'release-media-of-unused',
      (slot, chats) => sql`${withDeletableTurns(slot, chats, language)}
        ${releaseMedia(sql`select media_uses.media_id from media_uses
          where media_uses.turn_id in (${selectDeletable(slot)})`)}`,
    ),
    // Checks the time of last use again, because a turn may have been used since the page was
    // selected.
    removeUnused: compileByChats(
      'remove-unused',
      (slot, chats) => sql`${withDeletableTurns(slot, chats, language)}
        delete from turns where id in (${selectDeletable(slot)}) and ${isExpiredOrDeleted(slot, chats)} returning id`,
    ),
    ofThread: compileDeletion('of-thread', isTurnOfThread),
    ofUser: compileDeletion('of-user', isTurnOfUser),
    removeConversations: compile<UserKey>(
      'remove-conversations-of-user',
      (slot) => sql`delete from conversations where ${isRowOfUser('conversations', slot)}`,
    ),
  }
}

function isUnused(slot: ParameterSlot<ExpiryPage>, chats: ExpiringChats): SqlFragment {
  const unused = sql`turns.used_at < ${slot('unusedSinceMs')}`
  return chats === 'all' ? unused : sql`turns.short_lived = 1 and ${unused}`
}

function fromPageOfUnused(slot: ParameterSlot<ExpiryPage>, chats: ExpiringChats): SqlFragment {
  return sql`from turns where ${isUnused(slot, chats)}
    and (turns.used_at, turns.id) < (${slot('afterMs')}, ${slot('afterId')})
    order by turns.used_at desc, turns.id desc limit ${slot('limit')}`
}

/**
 * Selects the turns of the page that have no children, and then those of their ancestors that have
 * no other children. An ancestor that is marked as deleted is selected even if it was used
 * recently.
 */
function withDeletableTurns(
  slot: ParameterSlot<ExpiryPage>,
  chats: ExpiringChats,
  language: Engine['language'],
): SqlFragment {
  return sql`with recursive page(id) as (select turns.id ${fromPageOfUnused(slot, chats)}),
    deletable(id, parent) as (
      select turns.id, turns.parent from page join turns on turns.id = page.id
      where ${isUnreferenced(language)}
      and not exists (select 1 from turns child where child.parent = turns.id)
    union
      select turns.id, turns.parent from deletable join turns on turns.id = deletable.parent
      where ${isExpiredOrDeleted(slot, chats)} and ${isUnreferenced(language)}
      and not exists (
        select 1 from turns child where child.parent = turns.id and child.id <> deletable.id)
    )`
}

/**
 * Selects at most `limit` turns. `deletable` lists children before their parents, so a limited page
 * never contains a parent without its children.
 */
function selectDeletable(slot: ParameterSlot<ExpiryPage>): SqlFragment {
  return sql`select deletable.id from deletable limit ${slot('limit')}`
}

function isExpiredOrDeleted(slot: ParameterSlot<ExpiryPage>, chats: ExpiringChats): SqlFragment {
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
 * Removes a conversation's head if it is deleted, and its lock if a deleted turn holds it. A
 * conversation without a head continues with an empty history.
 */
function detachConversations(isIncluded: SqlFragment, tenant: string): SqlFragment {
  const deletedTurns = sql`select turns.id from turns where ${isIncluded}`
  return sql`update conversations set
    head = case when head in (${deletedTurns}) then null else head end,
    busy_until = case when busy_by in (${deletedTurns}) then null else busy_until end,
    busy_by = case when busy_by in (${deletedTurns}) then null else busy_by end
    where conversations.tenant || '' = ${tenant} and conversations.id in (
      select turns.conversation from turns where ${isIncluded} and turns.conversation is not null)`
}

export function isTurnOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  const tenant = slot('tenant')
  return sql`turns.tenant = ${tenant} and turns.thread = (${selectFromDeletableTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`turns.user_id`)}`
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

export function isTurnOfUser(slot: ParameterSlot<UserKey>): SqlFragment {
  return isRowOfUser('turns', slot)
}

/** True for rows of the user in the parameter `user`. */
export function isRowOfUser(
  table: 'turns' | 'conversations' | 'summaries' | 'layer_versions' | 'media_addresses',
  slot: ParameterSlot<UserKey>,
): SqlFragment {
  return sql`${sql.ref(`${table}.tenant`)} = ${slot('tenant')}
    and ${sql.ref(`${table}.user_id`)} = ${slot('user')}`
}

/**
 * Compiles a statement that deletes up to `limit` rows that were not used since `unusedSinceMs`,
 * those unused for longest first.
 */
export function compileDeleteUnused(
  language: Engine['language'],
  table: 'summaries' | 'layer_versions',
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
        order by used_at limit ${slot('limit')})`
    })
  const statements = {
    all: compileFor('', sql``),
    temporary: compileFor('-temporary', sql`and short_lived = 1`),
  }
  return (chats) => statements[chats]
}
