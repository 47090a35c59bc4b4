/** The queries of the memories of layers. They are looked up by their place, and begin with it. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  belongsToRequester,
  selectFromNamedTurn,
  type TurnLifetime,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isDeletedSince, selectUserDeletionName } from '../deletion/deleted-since-condition.ts'
import type { OwnerKey } from '../owner.ts'
import type { UnusedRowLimit } from '../summaries/summary-statements.ts'
import { LAYER_COLUMNS, type LayerRow } from '../database/table-row-types.ts'

export interface LayerStatements {
  readonly loadVersions: CompiledStatement<LayerVersionsKey & { readonly limit: number }>
  /** Returns a row if it was written. */
  readonly insertVersion: CompiledStatement<NewLayerVersionRow>
  /** To be asked behind it: what was forgotten while it was made goes at once, and returns a row. */
  readonly removeForgotten: CompiledStatement<NewLayerVersionRow>
  readonly removeOld: CompiledStatement<LayerVersionsKey & { readonly upTo: number }>
  readonly deleteVersions: CompiledStatement<LayerVersionsKey>
  readonly touchVersions: CompiledStatement<LayerVersionsKey & { readonly nowMs: number }>
  /** What forgetting takes along. */
  readonly removeOfThread: CompiledStatement<ThreadKey>
  readonly removeOfUser: CompiledStatement<UserKey>
  readonly removeOfConversation: CompiledStatement<OwnerKey & { readonly id: string }>
  readonly removeUnused: (of: TurnLifetime) => CompiledStatement<UnusedRowLimit>
}

/** Without a thread it is the empty text. */
export interface LayerVersionsKey extends OwnerKey {
  readonly layer: string
  readonly thread: string
}

export interface NewLayerVersionRow extends LayerRow {
  readonly parent: string | null
  readonly begunAtMs: number
  /** What it was made from. */
  readonly of: string | null
}

export function createLayerStatements(language: Engine['language']): LayerStatements {
  const write = createSqlCompiler(language)
  const unused = {
    all: write<UnusedRowLimit>('remove-unused-layers', (slot) => removeUnused(slot, 'all')),
    temporary: write<UnusedRowLimit>('remove-unused-layers-temporary', (slot) =>
      removeUnused(slot, 'temporary'),
    ),
  }
  return {
    loadVersions: write('load-layer-versions', loadVersions),
    insertVersion: write(
      'insert-layer-version',
      (slot) => sql`insert into layer_versions (${COLUMNS})
        values (${sql.join(LAYER_COLUMNS.map((name) => slot((row: NewLayerVersionRow) => row[name])))})
        on conflict do nothing returning id`,
    ),
    removeForgotten: write('remove-forgotten-layer-version', removeForgotten),
    removeOld: write(
      'remove-old-layer-versions',
      (slot) => sql`delete from layer_versions where ${isAt(slot)}
        and number <= ${slot(({ upTo }) => upTo)}`,
    ),
    deleteVersions: write(
      'delete-layer-versions',
      (slot) => sql`delete from layer_versions where ${isAt(slot)} returning id`,
    ),
    // It never goes back: of two that need it, the clock of one may be late.
    touchVersions: write('touch-layer-versions', (slot) => {
      const now = slot(({ nowMs }) => nowMs)
      return sql`update layer_versions set used_at = ${now}
        where ${isAt(slot)} and used_at + 0 < ${now}`
    }),
    removeOfThread: write('remove-layers-of-thread', removeOfThread),
    removeOfUser: write(
      'remove-layers-of-user',
      (slot) => sql`delete from layer_versions
        where layer_versions.tenant = ${slot(({ tenant }) => tenant)}
        and layer_versions.user_id = ${slot(({ user }) => user)}`,
    ),
    removeOfConversation: write('remove-layers-of-conversation', removeOfConversation),
    removeUnused: (of) => unused[of],
  }
}

const COLUMNS = sql.join(LAYER_COLUMNS.map((name) => sql.ref(name)))

function isAt<Key extends LayerVersionsKey>(slot: ParameterSlot<Key>): RawBuilder<unknown> {
  return sql`tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(user_id, '') = ${slot(({ user }) => user)}
    and layer = ${slot(({ layer }) => layer)} and coalesce(thread, '') = ${slot(({ thread }) => thread)}`
}

function loadVersions(
  slot: ParameterSlot<LayerVersionsKey & { readonly limit: number }>,
): RawBuilder<unknown> {
  return sql`select ${COLUMNS} from layer_versions where ${isAt(slot)} and number in (
      select max(number) from layer_versions where ${isAt(slot)} group by round)
    order by number desc limit ${slot(({ limit }) => limit)}`
}

function removeForgotten(slot: ParameterSlot<NewLayerVersionRow>): RawBuilder<unknown> {
  const parent = slot((row) => row.parent as string)
  const isForgotten = isDeletedSince(
    sql`layer_versions.tenant`,
    [
      sql`layer_versions.thread`,
      sql`cast(${slot((row) => row.of as string)} as text)`,
      selectUserDeletionName(slot),
    ],
    slot(({ begunAtMs }) => begunAtMs),
  )
  return sql`delete from layer_versions where layer_versions.id = ${slot(({ id }) => id)}
    and ((cast(${parent} as text) is not null
      and not exists (select 1 from turns where turns.id = ${parent})) or ${isForgotten})
    returning layer_versions.id`
}

/** To be asked while the turn is there. */
function removeOfThread(slot: ParameterSlot<ThreadKey>): RawBuilder<unknown> {
  const thread = selectFromNamedTurn(slot, sql`turns.thread`)
  const conversation = selectFromNamedTurn(slot, sql`turns.conversation`)
  return sql`delete from layer_versions
    where layer_versions.tenant || '' = ${slot(({ tenant }) => tenant)}
    and layer_versions.thread in (${thread} union ${conversation})
    and ${belongsToRequester(slot, sql`layer_versions.user_id`)}`
}

/** Once the conversation is gone, and only then. */
function removeOfConversation(
  slot: ParameterSlot<OwnerKey & { readonly id: string }>,
): RawBuilder<unknown> {
  const id = slot((key) => key.id)
  return sql`delete from layer_versions where layer_versions.thread = ${id}
    and layer_versions.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(layer_versions.user_id, '') || '' = ${slot(({ user }) => user)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}

function removeUnused(slot: ParameterSlot<UnusedRowLimit>, of: TurnLifetime): RawBuilder<unknown> {
  const since = slot(({ unusedSinceMs }) => unusedSinceMs)
  const isShort = of === 'all' ? sql`` : sql`and short_lived = 1`
  return sql`delete from layer_versions where used_at < ${since} and id in (
    select id from layer_versions where used_at < ${since} ${isShort}
    order by used_at limit ${slot(({ limit }) => limit)})`
}
