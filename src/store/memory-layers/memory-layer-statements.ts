/** The queries of the memories of layers. They are looked up by their place, and begin with it. */
import { sql, type RawBuilder } from 'kysely'
import { sqlCompiler, type Slot, type Statement } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  isOfAsker,
  ofNamedTurn,
  type Lifetime,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isForgottenSince, userOf } from '../deletion/deleted-since-condition.ts'
import type { OwnerKey } from '../owner.ts'
import type { UnusedSummaries } from '../summaries/summary-statements.ts'
import { LAYER_COLUMNS, type LayerRow } from '../database/table-row-types.ts'

export interface LayerStatements {
  readonly loadVersions: Statement<VersionsKey & { readonly limit: number }>
  /** Returns a row if it was written. */
  readonly insertVersion: Statement<NewVersionRow>
  /** To be asked behind it: what was forgotten while it was made goes at once, and returns a row. */
  readonly removeForgotten: Statement<NewVersionRow>
  readonly removeOld: Statement<VersionsKey & { readonly upTo: number }>
  readonly deleteVersions: Statement<VersionsKey>
  readonly touchVersions: Statement<VersionsKey & { readonly nowMs: number }>
  /** What forgetting takes along. */
  readonly removeOfThread: Statement<ThreadKey>
  readonly removeOfUser: Statement<UserKey>
  readonly removeOfConversation: Statement<OwnerKey & { readonly id: string }>
  readonly removeUnused: (of: Lifetime) => Statement<UnusedSummaries>
}

/** Without a thread it is the empty text. */
export interface VersionsKey extends OwnerKey {
  readonly layer: string
  readonly thread: string
}

export interface NewVersionRow extends LayerRow {
  readonly parent: string | null
  readonly begunAtMs: number
  /** What it was made from. */
  readonly of: string | null
}

export function createLayerStatements(language: Engine['language']): LayerStatements {
  const write = sqlCompiler(language)
  const unused = {
    all: write<UnusedSummaries>('remove-unused-layers', (slot) => removeUnused(slot, 'all')),
    temporary: write<UnusedSummaries>('remove-unused-layers-temporary', (slot) =>
      removeUnused(slot, 'temporary'),
    ),
  }
  return {
    loadVersions: write('load-layer-versions', loadVersions),
    insertVersion: write(
      'insert-layer-version',
      (slot) => sql`insert into layer_versions (${COLUMNS})
        values (${sql.join(LAYER_COLUMNS.map((name) => slot((row: NewVersionRow) => row[name])))})
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

function isAt<Key extends VersionsKey>(slot: Slot<Key>): RawBuilder<unknown> {
  return sql`tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(user_id, '') = ${slot(({ user }) => user)}
    and layer = ${slot(({ layer }) => layer)} and coalesce(thread, '') = ${slot(({ thread }) => thread)}`
}

function loadVersions(slot: Slot<VersionsKey & { readonly limit: number }>): RawBuilder<unknown> {
  return sql`select ${COLUMNS} from layer_versions where ${isAt(slot)} and number in (
      select max(number) from layer_versions where ${isAt(slot)} group by round)
    order by number desc limit ${slot(({ limit }) => limit)}`
}

function removeForgotten(slot: Slot<NewVersionRow>): RawBuilder<unknown> {
  const parent = slot((row) => row.parent as string)
  const isForgotten = isForgottenSince(
    sql`layer_versions.tenant`,
    [
      sql`layer_versions.thread`,
      sql`cast(${slot((row) => row.of as string)} as text)`,
      userOf(slot),
    ],
    slot(({ begunAtMs }) => begunAtMs),
  )
  return sql`delete from layer_versions where layer_versions.id = ${slot(({ id }) => id)}
    and ((cast(${parent} as text) is not null
      and not exists (select 1 from turns where turns.id = ${parent})) or ${isForgotten})
    returning layer_versions.id`
}

/** To be asked while the turn is there. */
function removeOfThread(slot: Slot<ThreadKey>): RawBuilder<unknown> {
  const thread = ofNamedTurn(slot, sql`turns.thread`)
  const conversation = ofNamedTurn(slot, sql`turns.conversation`)
  return sql`delete from layer_versions
    where layer_versions.tenant || '' = ${slot(({ tenant }) => tenant)}
    and layer_versions.thread in (${thread} union ${conversation})
    and ${isOfAsker(slot, sql`layer_versions.user_id`)}`
}

/** Once the conversation is gone, and only then. */
function removeOfConversation(slot: Slot<OwnerKey & { readonly id: string }>): RawBuilder<unknown> {
  const id = slot((key) => key.id)
  return sql`delete from layer_versions where layer_versions.thread = ${id}
    and layer_versions.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(layer_versions.user_id, '') || '' = ${slot(({ user }) => user)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}

function removeUnused(slot: Slot<UnusedSummaries>, of: Lifetime): RawBuilder<unknown> {
  const since = slot(({ unusedSinceMs }) => unusedSinceMs)
  const isShort = of === 'all' ? sql`` : sql`and short_lived = 1`
  return sql`delete from layer_versions where used_at < ${since} and id in (
    select id from layer_versions where used_at < ${since} ${isShort}
    order by used_at limit ${slot(({ limit }) => limit)})`
}
