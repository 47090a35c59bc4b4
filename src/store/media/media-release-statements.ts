/**
 * The queries by which media go with what shows them. They are released while it is known who does, and
 * removed when nobody shows them any more: nobody has to look for such among all that there are.
 */
import { sql, type RawBuilder } from 'kysely'
import { sqlCompiler, type Slot, type Statement } from '../database/compile-statement.ts'
import type { Engine, Query } from '../database/engine-interface.ts'
import {
  hasNoneLeft,
  isOfAsker,
  isOfDeleted,
  isOfThread,
  isOfUser,
  ofNamedTurn,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isShownByNobody, released, RELEASED } from './media-statements.ts'
import type { OwnerKey } from '../owner.ts'
import { isOfOwner } from '../turns/turn-statements.ts'

export interface ReleaseStatements {
  readonly ofThread: Releasing<ThreadKey>
  readonly ofUser: Releasing<UserKey>
  /** To be asked when the turn, or those of the conversation, are marked as deleted, and there still. */
  readonly ofDeleted: Releasing<DeletedKey>
  readonly ofConversation: Releasing<DeletedKey>
  readonly unused: Omit<Releasing<{ readonly unusedSinceMs: number }>, 'shown'>
  /** Behind the turns: those that nobody shows, then the others are no longer released. */
  readonly removeReleased: Statement<null>
  readonly keepOthers: Statement<null>
}

export interface DeletedKey extends OwnerKey {
  readonly id: string
}

/** To be asked in this order, in front of what removes the turns. */
export interface Releasing<Key> {
  readonly shown: Statement<Key>
  readonly loaded: Statement<Key>
  readonly removeAddresses: Statement<Key>
}

export function releasing<Key>(statements: Releasing<Key>, key: Key): readonly Query[] {
  return [statements.shown(key), statements.loaded(key), statements.removeAddresses(key)]
}

/** To be asked when the turns are gone. */
export function sweeping({ removeReleased, keepOthers }: ReleaseStatements): readonly Query[] {
  return [removeReleased(null), keepOthers(null)]
}

export function createReleaseStatements(language: Engine['language']): ReleaseStatements {
  const query = sqlCompiler(language)
  const loaded = <Key>(name: string, areAddresses: (slot: Slot<Key>) => RawBuilder<unknown>) => ({
    loaded: query<Key>(`release-loaded-media-${name}`, (slot) =>
      released(
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
    areTurns: (slot: Slot<Key>) => RawBuilder<unknown>,
    areAddresses: (slot: Slot<Key>) => RawBuilder<unknown>,
  ): Releasing<Key> => ({
    shown: query(`release-shown-media-${name}`, (slot) =>
      released(sql`select media_uses.media_id
          from turns join media_uses on media_uses.turn_id = turns.id where ${areTurns(slot)}`),
    ),
    ...loaded(name, areAddresses),
  })
  return {
    ofThread: whole('of-thread', isOfThread, areOfThread),
    ofUser: whole('of-user', isOfUser, areOfUser),
    ofDeleted: whole('of-deleted', areDeletedWith, (slot) => isOfDeleted('media_addresses', slot)),
    ofConversation: whole('of-conversation', areOfConversation, loadedInConversation),
    unused: loaded(
      'unused',
      (slot) => sql`media_addresses.used_at < ${slot(({ unusedSinceMs }) => unusedSinceMs)}`,
    ),
    removeReleased: query(
      'remove-released-media',
      () => sql`delete from media where used_at <= ${sql.lit(RELEASED)} and ${isShownByNobody()}`,
    ),
    keepOthers: query(
      'keep-released-media',
      () => sql`update media set used_at = 0 where used_at <= ${sql.lit(RELEASED)}`,
    ),
  }
}

function areOfThread(slot: Slot<ThreadKey>): RawBuilder<unknown> {
  return sql`media_addresses.tenant || '' = ${slot(({ tenant }) => tenant)}
    and media_addresses.thread = (${ofNamedTurn(slot, sql`turns.thread`)})
    and ${isOfAsker(slot, sql`media_addresses.user_id`)}`
}

function areOfUser(slot: Slot<UserKey>): RawBuilder<unknown> {
  return sql`media_addresses.tenant = ${slot(({ tenant }) => tenant)}
    and media_addresses.user_id = ${slot(({ user }) => user)}`
}

/** With a turn go those before it that were deleted earlier. */
function areDeletedWith(slot: Slot<DeletedKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`turns.tenant = ${tenant} and turns.deleted_at is not null
    and turns.thread = (select named.thread from turns named
      where named.id = ${slot(({ id }) => id)} and named.tenant || '' = ${tenant})`
}

function areOfConversation(slot: Slot<DeletedKey>): RawBuilder<unknown> {
  return sql`turns.conversation = ${slot(({ id }) => id)}
    and ${isOfOwner(slot)}
    and turns.deleted_at is not null`
}

/** Of the threads of which nothing is left that is not deleted. */
function loadedInConversation(slot: Slot<DeletedKey>): RawBuilder<unknown> {
  const tenant = slot((key) => key.tenant)
  return sql`media_addresses.tenant || '' = ${tenant}
    and media_addresses.thread in (select turns.thread from turns where ${areOfConversation(slot)})
    and ${hasNoneLeft(sql`media_addresses.thread`, tenant)}`
}
