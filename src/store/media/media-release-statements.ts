/**
 * The queries by which media go with what shows them. They are released while it is known who does, and
 * removed when nobody shows them any more: nobody has to look for such among all that there are.
 */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import {
  hasNoTurnsLeft,
  belongsToRequester,
  isInDeletedThread,
  isTurnOfThread,
  isTurnOfUser,
  selectFromNamedTurn,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isMediaUnused, releaseMedia, RELEASED_USED_AT } from './media-statements.ts'
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner } from '../turns/turn-statements.ts'

export interface MediaReleaseStatements {
  readonly ofThread: MediaReleaseSteps<ThreadKey>
  readonly ofUser: MediaReleaseSteps<UserKey>
  /** To be asked when the turn, or those of the conversation, are marked as deleted, and there still. */
  readonly ofDeleted: MediaReleaseSteps<DeletedKey>
  readonly ofConversation: MediaReleaseSteps<DeletedKey>
  readonly unused: Omit<MediaReleaseSteps<{ readonly unusedSinceMs: number }>, 'shown'>
  /** Behind the turns: those that nobody shows, then the others are no longer released. */
  readonly removeReleased: CompiledStatement<null>
  readonly keepOthers: CompiledStatement<null>
}

export interface DeletedKey extends OwnerKey {
  readonly id: string
}

/** To be asked in this order, in front of what removes the turns. */
export interface MediaReleaseSteps<Key> {
  readonly shown: CompiledStatement<Key>
  readonly loaded: CompiledStatement<Key>
  readonly removeAddresses: CompiledStatement<Key>
}

export function createReleaseQueries<Key>(
  statements: MediaReleaseSteps<Key>,
  key: Key,
): readonly SqlQuery[] {
  return [statements.shown(key), statements.loaded(key), statements.removeAddresses(key)]
}

/** To be asked when the turns are gone. */
export function createSweepQueries({
  removeReleased,
  keepOthers,
}: MediaReleaseStatements): readonly SqlQuery[] {
  return [removeReleased(null), keepOthers(null)]
}

export function createMediaReleaseStatements(language: Engine['language']): MediaReleaseStatements {
  const query = createSqlCompiler(language)
  const loaded = <Key>(
    name: string,
    areAddresses: (slot: ParameterSlot<Key>) => RawBuilder<unknown>,
  ) => ({
    loaded: query<Key>(`release-loaded-media-${name}`, (slot) =>
      releaseMedia(
        sql`select media_addresses.media_id from media_addresses where ${areAddresses(slot)}`,
      ),
    ),
    removeAddresses: query<Key>(
      `remove-media-addresses-${name}`,
      (slot) => sql`delete from media_addresses where ${areAddresses(slot)}`,
    ),
  })
  const whole = <Key>(
    name: string,
    areTurns: (slot: ParameterSlot<Key>) => RawBuilder<unknown>,
    areAddresses: (slot: ParameterSlot<Key>) => RawBuilder<unknown>,
  ): MediaReleaseSteps<Key> => ({
    shown: query(`release-shown-media-${name}`, (slot) =>
      releaseMedia(sql`select media_uses.media_id
          from turns join media_uses on media_uses.turn_id = turns.id where ${areTurns(slot)}`),
    ),
    ...loaded(name, areAddresses),
  })
  return {
    ofThread: whole('of-thread', isTurnOfThread, areOfThread),
    ofUser: whole('of-user', isTurnOfUser, areOfUser),
    ofDeleted: whole('of-deleted', areDeletedWith, (slot) =>
      isInDeletedThread('media_addresses', slot),
    ),
    ofConversation: whole('of-conversation', areOfConversation, loadedInConversation),
    unused: loaded(
      'unused',
      (slot) => sql`media_addresses.used_at < ${slot(({ unusedSinceMs }) => unusedSinceMs)}`,
    ),
    removeReleased: query(
      'remove-released-media',
      () =>
        sql`delete from media where used_at <= ${sql.lit(RELEASED_USED_AT)} and ${isMediaUnused()}`,
    ),
    keepOthers: query(
      'keep-released-media',
      () => sql`update media set used_at = 0 where used_at <= ${sql.lit(RELEASED_USED_AT)}`,
    ),
  }
}

function areOfThread(slot: ParameterSlot<ThreadKey>): RawBuilder<unknown> {
  return sql`media_addresses.tenant || '' = ${slot(({ tenant }) => tenant)}
    and media_addresses.thread = (${selectFromNamedTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`media_addresses.user_id`)}`
}

function areOfUser(slot: ParameterSlot<UserKey>): RawBuilder<unknown> {
  return sql`media_addresses.tenant = ${slot(({ tenant }) => tenant)}
    and media_addresses.user_id = ${slot(({ user }) => user)}`
}

/** With a turn go those before it that were deleted earlier. */
function areDeletedWith(slot: ParameterSlot<DeletedKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`turns.tenant = ${tenant} and turns.deleted_at is not null
    and turns.thread = (select named.thread from turns named
      where named.id = ${slot(({ id }) => id)} and named.tenant || '' = ${tenant})`
}

function areOfConversation(slot: ParameterSlot<DeletedKey>): RawBuilder<unknown> {
  return sql`turns.conversation = ${slot(({ id }) => id)}
    and ${isTurnOfOwner(slot)}
    and turns.deleted_at is not null`
}

/** Of the threads of which nothing is left that is not deleted. */
function loadedInConversation(slot: ParameterSlot<DeletedKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`media_addresses.tenant || '' = ${tenant}
    and media_addresses.thread in (select turns.thread from turns where ${areOfConversation(slot)})
    and ${hasNoTurnsLeft(sql`media_addresses.thread`, tenant)}`
}
