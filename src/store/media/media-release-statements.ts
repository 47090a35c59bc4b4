/**
 * SQL that deletes media together with the last turn that contains them. Before turns are deleted,
 * their media are marked as released. Afterwards, released media are deleted unless another turn or
 * URL uses them. Media without the mark are not checked, so that a deletion does not read all
 * media.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import {
  hasNoTurnsLeft,
  belongsToRequester,
  isInDeletedThread,
  isRowOfUser,
  isTurnOfThread,
  isTurnOfUser,
  selectFromDeletableTurn,
  type ThreadKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isMediaUnused, releaseMedia, RELEASED_USED_AT } from './media-statements.ts'
import { isTurnOfOwner, type OwnedRowKey } from '../owner.ts'

/**
 * Statements that mark media as released, in the order in which they run, before the statement that
 * deletes the turns.
 */
export interface MediaReleaseSteps<Key> {
  readonly releaseUsed: CompiledStatement<Key>
  readonly releaseFetched: CompiledStatement<Key>
  readonly removeAddresses: CompiledStatement<Key>
}

export function buildReleaseQueries<Key>(
  statements: MediaReleaseSteps<Key>,
  key: Key,
): readonly SqlQuery[] {
  return [
    statements.releaseUsed(key),
    statements.releaseFetched(key),
    statements.removeAddresses(key),
  ]
}

/**
 * Builds the queries that delete released media if nothing uses them any more. They run after turns
 * are deleted.
 */
export function buildSweepQueries({
  removeReleased,
  unmarkOthers,
}: MediaReleaseStatements): readonly SqlQuery[] {
  return [removeReleased(null), unmarkOthers(null)]
}

export type MediaReleaseStatements = ReturnType<typeof createMediaReleaseStatements>

export function createMediaReleaseStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const compileFetchedSteps = <Key>(
    name: string,
    isAddress: (slot: ParameterSlot<Key>) => SqlFragment,
  ) => ({
    releaseFetched: compile<Key>(`release-loaded-media-${name}`, (slot) =>
      releaseMedia(
        sql`select media_addresses.media_id from media_addresses where ${isAddress(slot)}`,
      ),
    ),
    removeAddresses: compile<Key>(
      `remove-media-addresses-${name}`,
      (slot) => sql`delete from media_addresses where ${isAddress(slot)}`,
    ),
  })
  const compileSteps = <Key>(
    name: string,
    isTurn: (slot: ParameterSlot<Key>) => SqlFragment,
    isAddress: (slot: ParameterSlot<Key>) => SqlFragment,
  ): MediaReleaseSteps<Key> => ({
    releaseUsed: compile(`release-shown-media-${name}`, (slot) =>
      releaseMedia(sql`select media_uses.media_id
          from turns join media_uses on media_uses.turn_id = turns.id where ${isTurn(slot)}`),
    ),
    ...compileFetchedSteps(name, isAddress),
  })
  return {
    ofThread: compileSteps('of-thread', isTurnOfThread, isAddressOfThread),
    ofUser: compileSteps('of-user', isTurnOfUser, (slot) => isRowOfUser('media_addresses', slot)),
    /**
     * Releases media of turns that are marked as deleted. Must run before the rows of the turns are
     * deleted.
     */
    ofDeleted: compileSteps('of-deleted', isDeletedInThread, (slot) =>
      isInDeletedThread('media_addresses', slot),
    ),
    ofConversation: compileSteps(
      'of-conversation',
      isDeletedInConversation,
      isAddressOfConversation,
    ),
    unused: compileFetchedSteps<{ readonly unusedSinceMs: number }>(
      'unused',
      (slot) => sql`media_addresses.used_at < ${slot('unusedSinceMs')}`,
    ),
    /**
     * Deletes released media that nothing uses. This and `unmarkOthers`, which removes the mark
     * from the other media, run after turns are deleted.
     */
    removeReleased: compile<null>(
      'remove-released-media',
      () =>
        sql`delete from media where used_at <= ${sql.lit(RELEASED_USED_AT)} and ${isMediaUnused()}`,
    ),
    unmarkOthers: compile<null>(
      'keep-released-media',
      () => sql`update media set used_at = 0 where used_at <= ${sql.lit(RELEASED_USED_AT)}`,
    ),
  }
}

function isAddressOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  return sql`media_addresses.tenant || '' = ${slot('tenant')}
    and media_addresses.thread = (${selectFromDeletableTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`media_addresses.user_id`)}`
}

/**
 * True for turns that are marked as deleted and in the same thread as the turn `id`: the deletion
 * of that turn may also remove ancestors that were marked earlier.
 */
function isDeletedInThread(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  const tenant = slot('tenant')
  return sql`turns.tenant = ${tenant} and turns.deleted_at is not null
    and turns.thread = (select named.thread from turns named
      where named.id = ${slot('id')} and named.tenant || '' = ${tenant})`
}

function isDeletedInConversation(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`turns.conversation = ${slot('id')}
    and ${isTurnOfOwner(slot)}
    and turns.deleted_at is not null`
}

/** True for stored URLs whose thread belongs to the conversation and has only deleted turns. */
function isAddressOfConversation(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  const tenant = slot('tenant')
  return sql`media_addresses.tenant || '' = ${tenant}
    and media_addresses.thread in (select turns.thread from turns where ${isDeletedInConversation(slot)})
    and ${hasNoTurnsLeft(sql`media_addresses.thread`, tenant)}`
}
