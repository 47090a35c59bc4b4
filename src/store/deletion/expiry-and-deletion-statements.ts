/**
 * SQL that deletes turns: expired turns, and those that a user deletes. The items of a turn are
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
import { releaseMedia } from '../media/media-statements.ts'
import { isTurnOfOwner, TURN_TENANT, type OwnerKey } from '../owner.ts'

export type TurnLifetime = 'all' | 'temporary'

export interface UnusedRowLimit {
  readonly unusedSinceMs: number
  readonly limit: number
}

export interface ExpiryPage {
  readonly unusedSinceMs: number
  readonly nowMs: number
  readonly afterMs: number
  readonly afterId: string
  readonly limit: number
}

/** The statements of one deletion, in the order in which they run in one transaction. */
export interface DeletionSteps<Key> {
  /** Removes the head and the lock of conversations whose head is among the turns. */
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
  const compileByLifetime = (
    name: string,
    build: (slot: ParameterSlot<ExpiryPage>, lifetime: TurnLifetime) => SqlFragment,
  ) => {
    const statement = (lifetime: TurnLifetime) =>
      compile<ExpiryPage>(`${name}-${lifetime}`, (slot) => build(slot, lifetime))
    const statements = { all: statement('all'), temporary: statement('temporary') }
    return (lifetime: TurnLifetime) => statements[lifetime]
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
    unusedTurns: compileByLifetime(
      'unused-turns',
      (slot, lifetime) => sql`select turns.used_at, turns.id ${fromPageOfUnused(slot, lifetime)}`,
    ),
    deleteEventsOfUnused: compileByLifetime(
      'delete-events-of-unused',
      (slot, lifetime) => sql`${withDeletableTurns(slot, lifetime)}
        delete from stream_events where turn_id in (${selectDeletable(slot)})`,
    ),
    releaseMediaOfUnused: compileByLifetime(
      'release-media-of-unused',
      (slot, lifetime) => sql`${withDeletableTurns(slot, lifetime)}
        ${releaseMedia(sql`select media_uses.media_id from media_uses
          where media_uses.turn_id in (${selectDeletable(slot)})`)}`,
    ),
    // Checks the time of last use again, because a turn may have been used since the page was
    // selected.
    removeUnused: compileByLifetime(
      'remove-unused',
      (slot, lifetime) => sql`${withDeletableTurns(slot, lifetime)}
        delete from turns where id in (${selectDeletable(slot)}) and ${isExpiredOrDeleted(slot, lifetime)} returning id`,
    ),
    ofThread: compileDeletion('of-thread', isTurnOfThread),
    ofUser: compileDeletion('of-user', isTurnOfUser),
    removeConversations: compile<UserKey>(
      'remove-conversations-of-user',
      (slot) => sql`delete from conversations where ${isOfUser('conversations', slot)}`,
    ),
  }
}

function isUnused(slot: ParameterSlot<ExpiryPage>, lifetime: TurnLifetime): SqlFragment {
  const unused = sql`turns.used_at < ${slot('unusedSinceMs')}`
  return lifetime === 'all' ? unused : sql`turns.short_lived = 1 and ${unused}`
}

function fromPageOfUnused(slot: ParameterSlot<ExpiryPage>, lifetime: TurnLifetime): SqlFragment {
  return sql`from turns where ${isUnused(slot, lifetime)}
    and (turns.used_at, turns.id) < (${slot('afterMs')}, ${slot('afterId')})
    order by turns.used_at desc, turns.id desc limit ${slot('limit')}`
}

/**
 * Selects the turns of the page that have no children, and then those ancestors that have no other
 * children. An ancestor that is marked as deleted is selected with its last child, even if it was
 * used recently.
 */
function withDeletableTurns(slot: ParameterSlot<ExpiryPage>, lifetime: TurnLifetime): SqlFragment {
  return sql`with recursive page(id) as (select turns.id ${fromPageOfUnused(slot, lifetime)}),
    deletable(id, parent) as (
      select turns.id, turns.parent from page join turns on turns.id = page.id
      where ${isUnreferenced(slot)}
      and not exists (select 1 from turns child where child.parent = turns.id)
    union
      select turns.id, turns.parent from deletable join turns on turns.id = deletable.parent
      where ${isExpiredOrDeleted(slot, lifetime)} and ${isUnreferenced(slot)}
      and not exists (
        select 1 from turns child where child.parent = turns.id and child.id <> deletable.id)
    )`
}

/**
 * Selects at most `limit` turns. `deletable` lists children before their parents, so a page that ends
 * at the limit never has a parent without its children.
 */
function selectDeletable(slot: ParameterSlot<ExpiryPage>): SqlFragment {
  return sql`select deletable.id from deletable limit ${slot('limit')}`
}

function isExpiredOrDeleted(slot: ParameterSlot<ExpiryPage>, lifetime: TurnLifetime): SqlFragment {
  return sql`((${isUnused(slot, lifetime)}) or turns.deleted_at is not null)`
}

/** True if no conversation uses the turn and no live replica works on it. */
function isUnreferenced(slot: ParameterSlot<ExpiryPage>): SqlFragment {
  return sql`not exists (select 1 from conversations where conversations.head = turns.id)
    and not exists (select 1 from conversations where conversations.id = turns.conversation)
    and not (turns.state in ('queued', 'open') and exists (
      select 1 from replicas where replicas.id = turns.owner
      and replicas.alive_until > ${slot('nowMs')}))`
}

/**
 * Removes the head and the lock of conversations whose head is deleted, so that they continue with
 * an empty history.
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
  return sql`turns.tenant = ${tenant} and turns.thread = (${selectFromNamedTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`turns.user_id`)}`
}

/**
 * Selects an expression from the turn with the id `turnId`, if the requester may delete that turn.
 * Must run before the turn is deleted.
 */
export function selectFromNamedTurn(
  slot: ParameterSlot<ThreadKey>,
  expression: SqlFragment,
): SqlFragment {
  return sql`select ${expression} from turns where turns.id = ${slot('turnId')}
    and ${TURN_TENANT} = ${slot('tenant')} and ${belongsToRequester(slot, sql`turns.user_id`)}`
}

/**
 * True for rows of the thread of the turn `id`, if all turns of that thread are deleted. Must run
 * after the turn is marked as deleted and before its row is deleted.
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
 * True if all turns of a thread are deleted. Not written as `not exists`: without statistics, a
 * planner would then scan all turns of the tenant once instead of looking up each thread.
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
  return isOfUser('turns', slot)
}

/** True for rows of the user in the parameter `user`. */
export function isOfUser(
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
): (lifetime: TurnLifetime) => CompiledStatement<UnusedRowLimit> {
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
  return (lifetime) => statements[lifetime]
}
