/**
 * The queries by which media go with those who are forgotten, and not hours later. They are released
 * while it is known whose they are, and removed when nobody shows them any more.
 */
import { sql, type RawBuilder } from 'kysely'
import { compile, queryBuilder, written, type Slot, type Statement } from './compile.ts'
import type { Engine } from './engine.ts'
import {
  goesWithDeleted,
  isOfThread,
  isOfUser,
  threadOf,
  type ThreadKey,
  type UserKey,
} from './forget-statements.ts'
import { isShownByNobody } from './media-statements.ts'
import type { OwnerKey } from './owner.ts'

export interface ReleaseStatements {
  readonly ofThread: Releasing<ThreadKey>
  readonly ofUser: Releasing<UserKey>
  /** To be asked when the turn is marked as deleted, and is there still. */
  readonly removeAddressesOfDeleted: Statement<OwnerKey & { readonly id: string }>
  /** Behind the turns. */
  readonly removeReleased: Statement<null>
}

/** To be asked in this order, in front of what removes the turns. */
export interface Releasing<Key> {
  readonly shown: Statement<Key>
  readonly loaded: Statement<Key>
  readonly removeAddresses: Statement<Key>
}

export function createReleaseStatements(language: Engine['language']): ReleaseStatements {
  const db = queryBuilder(language)
  const releasing = <Key>(
    name: string,
    areTurns: (slot: Slot<Key>) => RawBuilder<unknown>,
    areAddresses: (slot: Slot<Key>) => RawBuilder<unknown>,
  ): Releasing<Key> => ({
    shown: compile(`release-shown-media-${name}`, (slot) =>
      written(
        db,
        sql`update media set used_at = ${sql.lit(RELEASED)} where id in (
          select media_uses.media_id from turns join media_uses on media_uses.turn_id = turns.id
          where ${areTurns(slot)})`,
      ),
    ),
    loaded: compile(`release-loaded-media-${name}`, (slot) =>
      written(
        db,
        sql`update media set used_at = ${sql.lit(RELEASED)} where id in (
          select media_addresses.media_id from media_addresses where ${areAddresses(slot)})`,
      ),
    ),
    removeAddresses: compile(`remove-media-addresses-${name}`, (slot) =>
      written(db, sql`delete from media_addresses where ${areAddresses(slot)}`),
    ),
  })
  return {
    ofThread: releasing('of-thread', isOfThread, areOfThread),
    ofUser: releasing('of-user', isOfUser, areOfUser),
    removeAddressesOfDeleted: compile('remove-media-addresses-of-deleted', (slot) =>
      written(db, goesWithDeleted('media_addresses')(slot)),
    ),
    removeReleased: compile('remove-released-media', () =>
      written(
        db,
        sql`delete from media where used_at <= ${sql.lit(RELEASED)} and ${isShownByNobody()}`,
      ),
    ),
  }
}

/** Whoever shows the medium again at the same moment says that it is needed, and it stays. */
const RELEASED = -1

function areOfThread(slot: Slot<ThreadKey>): RawBuilder<unknown> {
  // A query has one type for its values, and compares with nobody all the same.
  const user = slot((key) => key.user as string)
  return sql`media_addresses.tenant || '' = ${slot(({ tenant }) => tenant)}
    and media_addresses.thread = (${threadOf(slot)})
    and (cast(${user} as text) is null or media_addresses.user_id || '' = ${user})`
}

function areOfUser(slot: Slot<UserKey>): RawBuilder<unknown> {
  return sql`media_addresses.tenant = ${slot(({ tenant }) => tenant)}
    and media_addresses.user_id = ${slot(({ user }) => user)}`
}
