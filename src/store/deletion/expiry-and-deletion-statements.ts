/** The queries by which memory ends. What they remove takes its items along. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { releaseMedia } from '../media/media-statements.ts'
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner, TURN_TENANT } from '../turns/turn-statements.ts'

export interface ExpiryAndDeletionStatements {
  /** A page of those that nobody has needed for long: the newest first. */
  readonly unusedTurns: (of: TurnLifetime) => CompiledStatement<ExpiryPage>
  readonly forgetEventsOfUnused: (of: TurnLifetime) => CompiledStatement<ExpiryPage>
  readonly releaseShownByUnused: (of: TurnLifetime) => CompiledStatement<ExpiryPage>
  readonly removeUnused: (of: TurnLifetime) => CompiledStatement<ExpiryPage>
  readonly ofThread: DeletionSteps<ThreadKey>
  readonly ofUser: DeletionSteps<UserKey>
  readonly removeConversations: CompiledStatement<UserKey>
}

export type TurnLifetime = 'all' | 'temporary'

export interface ExpiryPage {
  readonly unusedSinceMs: number
  readonly nowMs: number
  readonly afterMs: number
  readonly afterId: string
  readonly limit: number
}

/** To be asked in this order, in one batch. */
export interface DeletionSteps<Key> {
  /** Conversations let go of what they hold of it. */
  readonly leaveConversations: CompiledStatement<Key>
  readonly forgetEvents: CompiledStatement<Key>
  /** Returns a row for each. */
  readonly removeTurns: CompiledStatement<Key>
}

/** Without a user it is whatever belongs to the tenant. */
export interface ThreadKey {
  readonly tenant: string
  readonly turnId: string
  readonly user: string | null
}

export interface UserKey {
  readonly tenant: string
  readonly user: string
}

export function createExpiryAndDeletionStatements(
  language: Engine['language'],
): ExpiryAndDeletionStatements {
  const query = createSqlCompiler(language)
  const byLifetime = (
    name: string,
    build: (slot: ParameterSlot<ExpiryPage>, of: TurnLifetime) => RawBuilder<unknown>,
  ) => {
    const statement = (of: TurnLifetime) =>
      query<ExpiryPage>(`${name}-${of}`, (slot) => build(slot, of))
    const statements = { all: statement('all'), temporary: statement('temporary') }
    return (of: TurnLifetime) => statements[of]
  }
  const forgetting = <Key extends { readonly tenant: string }>(
    name: string,
    isOfIt: (slot: ParameterSlot<Key>) => RawBuilder<unknown>,
  ): DeletionSteps<Key> => ({
    leaveConversations: query(`leave-conversations-${name}`, (slot) =>
      leaveConversations(
        isOfIt(slot),
        slot(({ tenant }) => tenant),
      ),
    ),
    forgetEvents: query(
      `forget-events-${name}`,
      (slot) => sql`delete from stream_events where turn_id in (
        select turns.id from turns where ${isOfIt(slot)})`,
    ),
    removeTurns: query(
      `remove-turns-${name}`,
      (slot) => sql`delete from turns where ${isOfIt(slot)} returning id`,
    ),
  })
  return {
    unusedTurns: byLifetime(
      'unused-turns',
      (slot, of) => sql`select turns.used_at, turns.id ${pageOfUnused(slot, of)}`,
    ),
    forgetEventsOfUnused: byLifetime(
      'forget-events-of-unused',
      (slot, of) => sql`${withDoomed(slot, of)}
        delete from stream_events where turn_id in (${someDoomed(slot)})`,
    ),
    releaseShownByUnused: byLifetime(
      'release-media-of-unused',
      (slot, of) => sql`${withDoomed(slot, of)}
        ${releaseMedia(sql`select media_uses.media_id from media_uses
          where media_uses.turn_id in (${someDoomed(slot)})`)}`,
    ),
    // Asked again of each row as it is removed: somebody may need it since it was chosen.
    removeUnused: byLifetime(
      'remove-unused',
      (slot, of) => sql`${withDoomed(slot, of)}
        delete from turns where id in (${someDoomed(slot)}) and ${isDue(slot, of)} returning id`,
    ),
    ofThread: forgetting('of-thread', isTurnOfThread),
    ofUser: forgetting('of-user', isTurnOfUser),
    removeConversations: query(
      'remove-conversations-of-user',
      (slot) => sql`delete from conversations
        where conversations.tenant = ${slot(({ tenant }) => tenant)}
        and conversations.user_id = ${slot(({ user }) => user)}`,
    ),
  }
}

function isUnused(slot: ParameterSlot<ExpiryPage>, of: TurnLifetime): RawBuilder<unknown> {
  const unused = sql`turns.used_at < ${slot(({ unusedSinceMs }) => unusedSinceMs)}`
  return of === 'all' ? unused : sql`turns.short_lived = 1 and ${unused}`
}

function pageOfUnused(slot: ParameterSlot<ExpiryPage>, of: TurnLifetime): RawBuilder<unknown> {
  return sql`from turns where ${isUnused(slot, of)}
    and (turns.used_at, turns.id) < (${slot(({ afterMs }) => afterMs)}, ${slot(({ afterId }) => afterId)})
    order by turns.used_at desc, turns.id desc limit ${slot(({ limit }) => limit)}`
}

/**
 * Leaves of the page, and from each up those ancestors that nothing else stands on. A deleted turn
 * goes with the last that stood on it, however old it is.
 */
function withDoomed(slot: ParameterSlot<ExpiryPage>, of: TurnLifetime): RawBuilder<unknown> {
  return sql`with recursive page(id) as (select turns.id ${pageOfUnused(slot, of)}),
    doomed(id, parent) as (
      select turns.id, turns.parent from page join turns on turns.id = page.id
      where ${isFree(slot)}
      and not exists (select 1 from turns child where child.parent = turns.id)
    union
      select turns.id, turns.parent from doomed join turns on turns.id = doomed.parent
      where ${isDue(slot, of)} and ${isFree(slot)}
      and not exists (
        select 1 from turns child where child.parent = turns.id and child.id <> doomed.id)
    )`
}

/** A turn comes before its parent, so that the first of them never leave one without the other. */
function someDoomed(slot: ParameterSlot<ExpiryPage>): RawBuilder<unknown> {
  return sql`select doomed.id from doomed limit ${slot(({ limit }) => limit)}`
}

function isDue(slot: ParameterSlot<ExpiryPage>, of: TurnLifetime): RawBuilder<unknown> {
  return sql`((${isUnused(slot, of)}) or turns.deleted_at is not null)`
}

/** No conversation holds it, and nobody works on it. */
function isFree(slot: ParameterSlot<ExpiryPage>): RawBuilder<unknown> {
  return sql`not exists (select 1 from conversations where conversations.head = turns.id)
    and not exists (select 1 from conversations where conversations.id = turns.conversation)
    and not (turns.state in ('queued', 'open') and exists (
      select 1 from replicas where replicas.id = turns.owner
      and replicas.alive_until > ${slot(({ nowMs }) => nowMs)}))`
}

/** A conversation goes on without what is forgotten, and waits for none of it. */
function leaveConversations(isOfIt: RawBuilder<unknown>, tenant: string): RawBuilder<unknown> {
  const forgotten = sql`select turns.id from turns where ${isOfIt}`
  return sql`update conversations set
    head = case when head in (${forgotten}) then null else head end,
    busy_until = case when busy_by in (${forgotten}) then null else busy_until end,
    busy_by = case when busy_by in (${forgotten}) then null else busy_by end
    where conversations.tenant || '' = ${tenant} and conversations.id in (
      select turns.conversation from turns where ${isOfIt} and turns.conversation is not null)`
}

export function isTurnOfThread(slot: ParameterSlot<ThreadKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`turns.tenant = ${tenant} and turns.thread = (${selectFromNamedTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`turns.user_id`)}`
}

/** Something of the turn that is named, if it is the asker's. To be asked while it is there. */
export function selectFromNamedTurn(
  slot: ParameterSlot<ThreadKey>,
  what: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`select ${what} from turns where turns.id = ${slot(({ turnId }) => turnId)}
    and ${TURN_TENANT} = ${slot(({ tenant }) => tenant)} and ${belongsToRequester(slot, sql`turns.user_id`)}`
}

/**
 * What is kept for a thread goes when no turn of it is left that is not deleted. To be asked when the
 * turn that is named is marked as that, and is there still.
 */
export function isInDeletedThread(
  table: 'summaries' | 'media_addresses',
  slot: ParameterSlot<OwnerKey & { readonly id: string }>,
): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`${sql.ref(`${table}.tenant`)} || '' = ${tenant}
    and ${sql.ref(`${table}.thread`)} = (
      select turns.thread from turns where turns.id = ${slot(({ id }) => id)}
      and ${isTurnOfOwner(slot)})
    and ${hasNoTurnsLeft(sql.ref(`${table}.thread`), tenant)}`
}

/**
 * Whether a thread has no turn that is not deleted. Not as `not exists`: a planner without statistics
 * would rather go through all turns of the tenant once than ask for each thread.
 */
export function hasNoTurnsLeft(thread: RawBuilder<unknown>, tenant: string): RawBuilder<unknown> {
  return sql`(select left_over.id from turns left_over where left_over.tenant = ${tenant}
    and left_over.thread = ${thread} and left_over.deleted_at is null limit 1) is null`
}

/** Who is not a user of the tenant speaks for all of it. The column says whose something is. */
export function belongsToRequester(
  slot: ParameterSlot<ThreadKey>,
  column: RawBuilder<unknown>,
): RawBuilder<unknown> {
  // A query has one type for its values, and compares with nobody all the same.
  const user = slot(({ user }) => user as string)
  return sql`(cast(${user} as text) is null or ${column} || '' = ${user})`
}

export function isTurnOfUser(slot: ParameterSlot<UserKey>): RawBuilder<unknown> {
  return sql`turns.tenant = ${slot(({ tenant }) => tenant)}
    and turns.user_id = ${slot(({ user }) => user)}`
}
