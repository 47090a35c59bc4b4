/** The queries of summaries. They are looked up by their owner and by hashes, and begin with those. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  belongsToRequester,
  isInDeletedThread,
  selectFromNamedTurn,
  type TurnLifetime,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isDeletedSince, selectUserDeletionName } from '../deletion/deleted-since-condition.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import type { OwnerKey } from '../owner.ts'
import { SUMMARY_COLUMNS, type SummaryRow } from '../database/table-row-types.ts'

export interface SummaryStatements {
  readonly findSummaries: CompiledStatement<SummarySearch>
  /** These return a row if something was written. */
  readonly insertSummary: CompiledStatement<NewSummaryRow>
  readonly replaceSummary: CompiledStatement<NewSummaryRow>
  /** To be asked behind these: what was forgotten while it was made goes at once. */
  readonly removeForgotten: CompiledStatement<NewSummaryRow>
  readonly deleteSummary: CompiledStatement<SummaryKey>
  readonly touchSummary: CompiledStatement<SummaryKey & { readonly nowMs: number }>
  /** What forgetting takes along. */
  readonly removeOfThread: CompiledStatement<ThreadKey>
  /** To be asked when a turn is marked as deleted, and is there still. */
  readonly removeOfDeleted: CompiledStatement<SummaryKey>
  readonly removeOfUser: CompiledStatement<UserKey>
  readonly removeOfConversation: CompiledStatement<SummaryKey>
  readonly removeUnused: (of: TurnLifetime) => CompiledStatement<UnusedRowLimit>
}

/** The hashes are JSON. */
export interface SummarySearch extends OwnerKey {
  readonly hashes: string
  readonly limit: number
}

export interface SummaryKey extends OwnerKey {
  readonly id: string
}

/** Its thread is that of the turns. */
export interface NewSummaryRow extends Omit<SummaryRow, 'thread'> {
  readonly turn: string | null
  readonly parent: string | null
  readonly begunAtMs: number
}

export interface UnusedRowLimit {
  readonly unusedSinceMs: number
  readonly limit: number
}

export function createSummaryStatements(language: Engine['language']): SummaryStatements {
  const write = createSqlCompiler(language)
  const unused = {
    all: write<UnusedRowLimit>('remove-unused-summaries', (slot) => removeUnused(slot, 'all')),
    temporary: write<UnusedRowLimit>('remove-unused-summaries-temporary', (slot) =>
      removeUnused(slot, 'temporary'),
    ),
  }
  return {
    findSummaries: write('find-summaries', (slot) => findSummaries(language, slot)),
    insertSummary: write(
      'insert-summary',
      (slot) => sql`${insertInto(slot)} on conflict do nothing returning id`,
    ),
    replaceSummary: write(
      'replace-summary',
      (slot) => sql`${insertInto(slot)}
        on conflict (tenant, coalesce(user_id, ''), prefix_hash) do update set ${sql.join(
          SUMMARY_COLUMNS.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
        )} returning id`,
    ),
    removeForgotten: write('remove-forgotten-summary', removeForgotten),
    deleteSummary: write(
      'delete-summary',
      (slot) => sql`delete from summaries where ${isOne(slot)} returning id`,
    ),
    // It never goes back: of two that need it, the clock of one may be late.
    touchSummary: write('touch-summary', (slot) => {
      const now = slot(({ nowMs }) => nowMs)
      return sql`update summaries set used_at = ${now} where ${isOne(slot)} and used_at + 0 < ${now}`
    }),
    removeOfThread: write('remove-summaries-of-thread', removeOfThread),
    removeOfDeleted: write(
      'remove-summaries-of-deleted',
      (slot) => sql`delete from summaries where ${isInDeletedThread('summaries', slot)}`,
    ),
    removeOfUser: write(
      'remove-summaries-of-user',
      (slot) => sql`delete from summaries where summaries.tenant = ${slot(({ tenant }) => tenant)}
        and summaries.user_id = ${slot(({ user }) => user)}`,
    ),
    removeOfConversation: write('remove-summaries-of-conversation', removeOfConversation),
    removeUnused: (of) => unused[of],
  }
}

function findSummaries(
  language: Engine['language'],
  slot: ParameterSlot<SummarySearch>,
): RawBuilder<unknown> {
  const hashes = slot((search) => search.hashes)
  return sql`select ${sql.join(SUMMARY_COLUMNS.map((name) => sql.ref(name)))} from summaries
    where tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(user_id, '') = ${slot(({ user }) => user)}
    and ${isInJsonList(language, sql`prefix_hash`, hashes)}
    order by turns desc, id desc limit ${slot(({ limit }) => limit)}`
}

function insertInto(slot: ParameterSlot<NewSummaryRow>): RawBuilder<unknown> {
  const threadOf = (turn: string | null) =>
    sql`(select turns.thread from turns where turns.id = ${turn})`
  const thread = sql`coalesce(${threadOf(slot(({ turn }) => turn))}, ${threadOf(slot(({ parent }) => parent))})`
  const values = SUMMARY_COLUMNS.map((name) =>
    name === 'thread' ? thread : slot((row) => row[name]),
  )
  return sql`insert into summaries (${sql.join(SUMMARY_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(values)})`
}

function removeForgotten(slot: ParameterSlot<NewSummaryRow>): RawBuilder<unknown> {
  const isDisconnected = (id: string | null, table: string) =>
    sql`(cast(${id} as text) is not null
      and not exists (select 1 from ${sql.table(table)} where id = ${id}))`
  return sql`delete from summaries where summaries.id = ${slot(({ id }) => id)} and (
    ${isDisconnected(
      slot(({ parent }) => parent),
      'turns',
    )} or ${isDisconnected(
      slot(({ conversation }) => conversation),
      'conversations',
    )} or ${isDeletedSince(
      sql`summaries.tenant`,
      [
        sql`summaries.thread`,
        sql`summaries.conversation`,
        // The thread of an answer that was the first, and of which nothing is left.
        sql`cast(${slot(({ turn }) => turn as string)} as text)`,
        selectUserDeletionName(slot),
      ],
      slot(({ begunAtMs }) => begunAtMs),
    )}) returning summaries.id`
}

/** Found by its id; whose it is is only compared. */
function isOne<Key extends SummaryKey>(slot: ParameterSlot<Key>): RawBuilder<unknown> {
  return sql`id = ${slot(({ id }) => id)} and tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(user_id, '') || '' = ${slot(({ user }) => user)}`
}

/** To be asked while the turn is there. */
function removeOfThread(slot: ParameterSlot<ThreadKey>): RawBuilder<unknown> {
  return sql`delete from summaries where summaries.tenant || '' = ${slot(({ tenant }) => tenant)}
    and summaries.thread = (${selectFromNamedTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`summaries.user_id`)}`
}

/** Once the conversation is gone, and only then. */
function removeOfConversation(slot: ParameterSlot<SummaryKey>): RawBuilder<unknown> {
  const id = slot((key) => key.id)
  return sql`delete from summaries where summaries.conversation = ${id}
    and summaries.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(summaries.user_id, '') || '' = ${slot(({ user }) => user)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}

function removeUnused(slot: ParameterSlot<UnusedRowLimit>, of: TurnLifetime): RawBuilder<unknown> {
  const since = slot(({ unusedSinceMs }) => unusedSinceMs)
  const isShort = of === 'all' ? sql`` : sql`and short_lived = 1`
  // Asked again of each row as it is removed: somebody may need it since it was chosen.
  return sql`delete from summaries where used_at < ${since} and id in (
    select id from summaries where used_at < ${since} ${isShort}
    order by used_at limit ${slot(({ limit }) => limit)})`
}
