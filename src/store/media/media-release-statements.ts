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
  selectFromDeletableTurn,
  type ThreadKey,
  type UnusedRowLimit,
} from '../deletion/expiry-and-deletion-statements.ts'
import { withDeletableChain } from '../deletion/deletable-chain.ts'
import { isMediaUnused, releaseMedia, RELEASED_USED_AT } from './media-statements.ts'
import { isTurnOfOwner, type OwnedRowKey } from '../owner.ts'

/**
 * Statements that mark media as released, in the order in which they run, before the statement that
 * deletes the turns.
 */
export interface MediaReleaseSteps<Key> {
  readonly releaseUsed?: CompiledStatement<Key>
  readonly releaseFetched: CompiledStatement<Key>
  readonly removeAddresses: CompiledStatement<Key>
}

export function buildReleaseQueries<Key>(
  statements: MediaReleaseSteps<Key>,
  key: Key,
): readonly SqlQuery[] {
  const { releaseUsed, releaseFetched, removeAddresses } = statements
  const used = releaseUsed === undefined ? [] : [releaseUsed(key)]
  return [...used, releaseFetched(key), removeAddresses(key)]
}

/**
 * Builds the queries that delete some of the released media if nothing uses them any more. They run after turns
 * are deleted. The first query returns a row for each medium that was checked; none if no medium is released.
 */
export function buildSweepQueries({
  lockReleased,
  removePieces,
  removeReleased,
  unmarkOthers,
}: MediaReleaseStatements): readonly SqlQuery[] {
  const sweep = {
    mark: RELEASED_USED_AT - 1 - (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0),
  }
  return [lockReleased(sweep), removePieces(sweep), removeReleased(sweep), unmarkOthers(sweep)]
}

/** The media that one transaction checks. */
export interface MediaSweep {
  /** A value of the column `used_at` that only this transaction sets. */
  readonly mark: number
}

/** Maximum number of media that one transaction checks; the next one checks further ones. */
const MAX_SWEPT_MEDIA = 200

/** Maximum number and size of the pieces of media that one transaction deletes; the next one deletes further ones. */
const [MAX_SWEPT_PIECES, MAX_SWEPT_BYTES] = [200, 4_000_000]

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
      (slot) => sql`delete from media_addresses where ${isAddress(slot)} returning id`,
    ),
  })
  const compileSteps = <Key>(
    name: string,
    releaseUsed: (slot: ParameterSlot<Key>) => SqlFragment,
    isAddress: (slot: ParameterSlot<Key>) => SqlFragment,
  ) => ({
    releaseUsed: compile(`release-shown-media-${name}`, releaseUsed),
    ...compileFetchedSteps(name, isAddress),
  })
  return {
    /** Must run before the turns of the thread are deleted. Their own media are released with them. */
    ofThread: compileFetchedSteps('of-thread', isAddressOfThread),
    /** Releases media of a deleted turn and its ancestors. Must run before the rows of the turns are deleted. */
    ofDeleted: compileSteps<OwnedRowKey>(
      'of-deleted',
      (slot) => sql`${withDeletableChain(slot, isTurnOfOwner(slot))}
        ${releaseMedia(sql`select media_uses.media_id from deletable cross join media_uses
          where media_uses.turn_id = deletable.id and deletable.is_next = 0`)}`,
      (slot) => isInDeletedThread('media_addresses', slot),
    ),
    /** Runs when the turns of the conversation are marked as deleted and before they are deleted. */
    ofConversation: compileFetchedSteps('of-conversation', isAddressOfConversation),
    unused: compileFetchedSteps<UnusedRowLimit>(
      'unused',
      (slot) => sql`media_addresses.used_at < ${slot('unusedSinceMs')}
        and media_addresses.id in (select oldest.id from media_addresses oldest
          where oldest.used_at < ${slot('unusedSinceMs')}
          order by oldest.used_at, oldest.id limit ${slot('limit')})`,
    ),
    /**
     * Marks the media that this transaction checks. If a turn with one of them is written at the same time, that write
     * waits for the end of the transaction. The next statements change only marked media.
     */
    lockReleased: compile<MediaSweep>(
      'lock-released-media',
      (slot) => sql`update media set used_at = ${slot('mark')}
        where used_at + 0 <= ${sql.lit(RELEASED_USED_AT)} and id in (
          select released.id from media released where released.used_at <= ${sql.lit(RELEASED_USED_AT)}
          order by released.used_at limit ${sql.lit(MAX_SWEPT_MEDIA)}) returning id`,
    ),
    /**
     * Deletes pieces of released media that nothing uses, and returns a row for each. This and the next two statements
     * run after turns are deleted. A medium is deleted with its last piece. If it is used again before, its mark is
     * removed.
     */
    removePieces: compile('remove-released-pieces', removePiecesOfReleased),
    removeReleased: compile<MediaSweep>(
      'remove-released-media',
      (slot) =>
        sql`delete from media where used_at = ${slot('mark')} and ${isMediaUnused()}
          and not exists (select 1 from media_pieces where media_pieces.media_id = media.id)`,
    ),
    unmarkOthers: compile<MediaSweep>(
      'keep-released-media',
      (slot) => sql`update media set used_at = 0 where used_at = ${slot('mark')}
        and (${hasRow('media_uses')} or ${hasRow('media_addresses')})`,
    ),
  }
}

/** Written as a look-up of one row: for `exists` with `or`, Postgres would read the whole table. */
function hasRow(table: 'media_uses' | 'media_addresses'): SqlFragment {
  return sql`(select 1 from ${sql.table(table)}
    where ${sql.ref(`${table}.media_id`)} = media.id limit 1) is not null`
}

function removePiecesOfReleased(slot: ParameterSlot<MediaSweep>): SqlFragment {
  const key = sql`media_id, position`
  return sql`delete from media_pieces where (${key}) in (
    select ${key} from (
      select ${key}, sum(bytes) over (order by ${key}) - bytes as bytes_before from (
        select media_pieces.media_id, media_pieces.position, octet_length(media_pieces.body) as bytes
        from media cross join media_pieces
        where media_pieces.media_id = media.id and media.used_at = ${slot('mark')} and ${isMediaUnused()}
        limit ${sql.lit(MAX_SWEPT_PIECES)}) limited) sized
    where bytes_before < ${sql.lit(MAX_SWEPT_BYTES)}) returning media_id`
}

function isAddressOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  return sql`media_addresses.tenant || '' = ${slot('tenant')}
    and media_addresses.thread = (${selectFromDeletableTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`media_addresses.user_id`)}`
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
