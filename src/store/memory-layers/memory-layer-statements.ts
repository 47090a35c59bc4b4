/** SQL for the versions of memory layers. Versions are identified by owner, layer and thread. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  belongsToRequester,
  compileDeleteUnused,
  selectFromDeletableTurn,
  type ThreadKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'
import { isDeletedSince, selectUserDeletionName } from '../deletion/deleted-since-condition.ts'
import { isRowOfOwner, isRowOfOwnerUnindexed, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import { LAYER_COLUMNS, type LayerRow } from '../database/table-row-types.ts'

/**
 * Identifies the versions of one layer. `thread` is empty for a layer that is shared by all
 * conversations.
 */
export interface LayerVersionsKey extends OwnerKey {
  readonly layer: string
  readonly thread: string
}

export interface NewLayerVersionRow extends LayerRow {
  readonly parentTurnId: string | null
  readonly jobStartedAtMs: number
  /** Id of the thread or conversation that the version was derived from; null if unknown. */
  readonly sourceId: string | null
}

export function createMemoryLayerStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    loadVersions: compile('load-layer-versions', loadVersions),
    /** Inserts a version, and returns a row, unless its number is used already. */
    insertVersion: compile<NewLayerVersionRow>(
      'insert-layer-version',
      (slot) => sql`insert into layer_versions (${COLUMNS})
        values (${sql.join(LAYER_COLUMNS.map((name) => slot(name)))})
        on conflict do nothing returning id`,
    ),
    /**
     * Deletes a version with the same number that is being deleted anyway, so that `insertVersion`
     * finds none.
     */
    removeErased: compile<NewLayerVersionRow>(
      'remove-erased-layer-version',
      (slot) => sql`delete from layer_versions where layer_versions.tenant = ${slot('tenant')}
        and coalesce(layer_versions.user_id, '') = ${slot(({ user_id: user }) => user ?? '')}
        and layer = ${slot('layer')} and coalesce(thread, '') = ${slot(({ thread }) => thread ?? '')}
        and number = ${slot('number')} and ${isRowErased('layer_versions')}`,
    ),
    /**
     * Deletes a version that was just written, and returns a row, if its parent turn, thread,
     * conversation or user was deleted meanwhile.
     */
    removeIfSourceDeleted: compile('remove-forgotten-layer-version', removeIfSourceDeleted),
    removeOld: compile<LayerVersionsKey & { readonly upTo: number }>(
      'remove-old-layer-versions',
      (slot) => sql`delete from layer_versions where ${isOfLayer(slot)}
        and number <= ${slot('upTo')}`,
    ),
    deleteVersions: compile<LayerVersionsKey>(
      'delete-layer-versions',
      (slot) => sql`delete from layer_versions where ${isOfLayer(slot)} returning id`,
    ),
    // Never lowers the time of last use, because the clock of a replica may be slow.
    touchVersions: compile<LayerVersionsKey & { readonly nowMs: number }>(
      'touch-layer-versions',
      (slot) => {
        const now = slot('nowMs')
        return sql`update layer_versions set used_at = ${now}
        where ${isOfLayer(slot)} and used_at + 0 < ${now}`
      },
    ),
    /**
     * Deletes the versions of a thread. This and the other statements `remove…Of…` are parts of
     * larger deletions.
     */
    removeOfThread: compile('remove-layers-of-thread', removeOfThread),
    removeOfConversation: compile('remove-layers-of-conversation', removeOfConversation),
    removeUnused: compileDeleteUnused(language, 'layer_versions', 'remove-unused-layers'),
  }
}

const COLUMNS = sql.join(LAYER_COLUMNS.map((name) => sql.ref(name)))

function isOfLayer(slot: ParameterSlot<LayerVersionsKey>): SqlFragment {
  return sql`${isRowOfOwner('layer_versions', slot)}
    and layer = ${slot('layer')} and coalesce(thread, '') = ${slot('thread')}`
}

function loadVersions(
  slot: ParameterSlot<LayerVersionsKey & { readonly limit: number }>,
): SqlFragment {
  return sql`select ${COLUMNS} from layer_versions where ${isOfLayer(slot)} and number in (
      select max(number) from layer_versions where ${isOfLayer(slot)} group by round)
    order by number desc limit ${slot('limit')}`
}

function removeIfSourceDeleted(slot: ParameterSlot<NewLayerVersionRow>): SqlFragment {
  const parentTurnId = slot('parentTurnId')
  const wasDeleted = isDeletedSince(
    sql`layer_versions.tenant`,
    [
      sql`layer_versions.thread`,
      sql`cast(${slot('sourceId')} as text)`,
      selectUserDeletionName(slot),
    ],
    slot('jobStartedAtMs'),
  )
  return sql`delete from layer_versions where layer_versions.id = ${slot('id')}
    and ((cast(${parentTurnId} as text) is not null
      and not exists (select 1 from turns where turns.id = ${parentTurnId})) or ${wasDeleted})
    returning layer_versions.id`
}

/** Deletes the versions of a deleted thread. Must run before the turn `turnId` is deleted. */
function removeOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  const thread = selectFromDeletableTurn(slot, sql`turns.thread`)
  const conversation = selectFromDeletableTurn(slot, sql`turns.conversation`)
  return sql`delete from layer_versions
    where layer_versions.tenant || '' = ${slot('tenant')}
    and layer_versions.thread in (${thread} union ${conversation})
    and ${belongsToRequester(slot, sql`layer_versions.user_id`)}`
}

/** Deletes the versions of a deleted conversation. */
function removeOfConversation(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  const id = slot('id')
  return sql`delete from layer_versions where layer_versions.thread = ${id}
    and ${isRowOfOwnerUnindexed('layer_versions', slot)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}
