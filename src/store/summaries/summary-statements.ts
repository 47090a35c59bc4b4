/**
 * SQL for summaries. A summary is found by its owner and a hash of the history that it replaces.
 */
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
  isInDeletedThread,
  selectFromDeletableTurn,
  type ThreadKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'
import { isDeletedSince, selectUserDeletionName } from '../deletion/deleted-since-condition.ts'
import { selectForEachText } from '../database/json-list-parameter.ts'
import { isRowOfOwner, isRowOfOwnerUnindexed, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import { SUMMARY_COLUMNS, type SummaryRow } from '../database/table-row-types.ts'

/** `hashes` is a JSON list of the prefix hashes to look for. */
export interface SummarySearch extends OwnerKey {
  readonly hashes: string
  readonly limit: number
}

/**
 * A summary to insert. The statement copies its thread from the turn `turnId` or `parentTurnId`.
 */
export interface NewSummaryRow extends Omit<SummaryRow, 'thread'> {
  readonly turnId: string | null
  readonly parentTurnId: string | null
  readonly jobStartedAtMs: number
}

export function createSummaryStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    findSummaries: compile<SummarySearch>('find-summaries', (slot) =>
      findSummaries(language, slot),
    ),
    /** This statement and `replaceSummary` return a row if a summary was written. */
    insertSummary: compile<NewSummaryRow>(
      'insert-summary',
      (slot) => sql`${buildInsert(slot)} on conflict do nothing returning id`,
    ),
    /**
     * Deletes a summary of the same beginning that is being deleted anyway, so that `insertSummary`
     * finds none.
     */
    removeErased: compile<NewSummaryRow>(
      'remove-erased-summary',
      (slot) => sql`delete from summaries where summaries.tenant = ${slot('tenant')}
        and coalesce(summaries.user_id, '') = ${slot(({ user_id: user }) => user ?? '')}
        and summaries.prefix_hash = ${slot('prefix_hash')} and ${isRowErased('summaries')}`,
    ),
    replaceSummary: compile<NewSummaryRow>(
      'replace-summary',
      (slot) => sql`${buildInsert(slot)}
        on conflict (tenant, coalesce(user_id, ''), prefix_hash) do update set ${sql.join(
          SUMMARY_COLUMNS.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
        )} returning id`,
    ),
    /**
     * Deletes a summary that was just written, and returns a row, if the turn, thread, conversation
     * or user that it belongs to was deleted meanwhile.
     */
    removeIfSourceDeleted: compile('remove-forgotten-summary', removeIfSourceDeleted),
    deleteSummary: compile<OwnedRowKey>(
      'delete-summary',
      (slot) => sql`delete from summaries where ${isSummaryWithId(slot)} returning id`,
    ),
    // Never lowers the time of last use, because the clock of a replica may be slow.
    touchSummary: compile<OwnedRowKey & { readonly nowMs: number }>('touch-summary', (slot) => {
      const now = slot('nowMs')
      return sql`update summaries set used_at = ${now} where ${isSummaryWithId(slot)} and used_at + 0 < ${now}`
    }),
    /**
     * Deletes the summaries of a thread. This and the other statements `remove…Of…` are parts of
     * larger deletions.
     */
    removeOfThread: compile('remove-summaries-of-thread', removeOfThread),
    /** Must run after a turn is marked as deleted and before its row is deleted. */
    removeOfDeleted: compile<OwnedRowKey>(
      'remove-summaries-of-deleted',
      (slot) => sql`delete from summaries where ${isInDeletedThread('summaries', slot)}`,
    ),
    removeOfConversation: compile('remove-summaries-of-conversation', removeOfConversation),
    removeUnused: compileDeleteUnused(language, 'summaries', 'remove-unused-summaries'),
  }
}

function findSummaries(
  language: Engine['language'],
  slot: ParameterSlot<SummarySearch>,
): SqlFragment {
  const summaries = selectForEachText(language, slot('hashes'), {
    columns: sql.join(SUMMARY_COLUMNS.map((name) => sql.ref(`summaries.${name}`))),
    table: sql`summaries`,
    condition: sql`${isRowOfOwner('summaries', slot)} and summaries.prefix_hash = wanted.value`,
  })
  return sql`select * from (${summaries}) found
    order by turns desc, id desc limit ${slot('limit')}`
}

function buildInsert(slot: ParameterSlot<NewSummaryRow>): SqlFragment {
  const threadOf = (turn: string | null) =>
    sql`(select turns.thread from turns where turns.id = ${turn})`
  const thread = sql`coalesce(${threadOf(slot('turnId'))}, ${threadOf(slot('parentTurnId'))})`
  const values = SUMMARY_COLUMNS.map((name) => (name === 'thread' ? thread : slot(name)))
  return sql`insert into summaries (${sql.join(SUMMARY_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(values)})`
}

function removeIfSourceDeleted(slot: ParameterSlot<NewSummaryRow>): SqlFragment {
  const isMissing = (id: string | null, table: string) =>
    sql`(cast(${id} as text) is not null
      and not exists (select 1 from ${sql.table(table)} where id = ${id}))`
  return sql`delete from summaries where summaries.id = ${slot('id')} and (
    ${isMissing(slot('parentTurnId'), 'turns')} or ${isMissing(
      slot('conversation'),
      'conversations',
    )} or ${isDeletedSince(
      sql`summaries.tenant`,
      [
        sql`summaries.thread`,
        sql`summaries.conversation`,
        // `summaries.thread` is null if the turn was deleted before the insert. If it was the first
        // turn of its thread, its own id is the thread's name in the deletion log.
        sql`cast(${slot('turnId')} as text)`,
        selectUserDeletionName(slot),
      ],
      slot('jobStartedAtMs'),
    )}) returning summaries.id`
}

function isSummaryWithId(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`summaries.id = ${slot('id')} and ${isRowOfOwnerUnindexed('summaries', slot)}`
}

/** Deletes the summaries of a deleted thread. Must run before the turn `turnId` is deleted. */
function removeOfThread(slot: ParameterSlot<ThreadKey>): SqlFragment {
  return sql`delete from summaries where summaries.tenant || '' = ${slot('tenant')}
    and summaries.thread = (${selectFromDeletableTurn(slot, sql`turns.thread`)})
    and ${belongsToRequester(slot, sql`summaries.user_id`)}`
}

/** Deletes the summaries of a deleted conversation. */
function removeOfConversation(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  const id = slot('id')
  return sql`delete from summaries where summaries.conversation = ${id}
    and ${isRowOfOwnerUnindexed('summaries', slot)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}
