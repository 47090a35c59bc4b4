/**
 * SQL for the deletion log (table `forgotten`), which makes deletions final. An entry contains the
 * name of a deleted thread, conversation or user, and the time. A slow job, e.g. a summary, checks in
 * the transaction of its write whether its source was deleted since the job began. Entries are
 * stored for 24 hours, longer than any job takes.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  hasNoTurnsLeft,
  selectFromDeletableTurn,
  type ThreadKey,
} from './expiry-and-deletion-statements.ts'
import {
  isDeletedSince,
  formatUserDeletionName,
  selectUserDeletionName,
  THREAD_DELETION_PREFIX,
} from './deleted-since-condition.ts'
import { isTurnOfOwner, type OwnerKey } from '../owner.ts'
import { DATABASE_TIME } from '../leases/lease-conditions.ts'
import type { FactRow } from '../database/table-row-types.ts'

export interface WrittenFactWithSource extends Pick<FactRow, 'id' | 'user_id'> {
  readonly jobStartedAtMs: number
  /** Id of the thread or conversation that the fact was derived from; null if unknown. */
  readonly sourceId: string | null
}

export interface DeletionLogEntry {
  readonly tenant: string
  readonly nowMs: number
}

export function createDeletionLogStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    logUser: compile<DeletionLogEntry & { readonly user: string }>('log-deleted-user', (slot) =>
      insertEntries(
        language,
        slot,
        sql`select cast(${slot(({ user }) => formatUserDeletionName(user))} as text) as name where 1 = 1`,
      ),
    ),
    /** Logs the thread and the conversation of a turn. Must run before the turn is deleted. */
    logThread: compile<DeletionLogEntry & ThreadKey>('log-deleted-thread', (slot) => {
      const selectName = (name: SqlFragment) => selectFromDeletableTurn(slot, sql`${name} as name`)
      return insertEntries(
        language,
        slot,
        sql`${selectName(sql`turns.thread`)} union ${selectName(sql`turns.conversation`)}
          union ${selectName(sql`${sql.lit(THREAD_DELETION_PREFIX)} || turns.thread`)}`,
      )
    }),
    /** Logs the thread of a turn that is marked as deleted, unless the thread has other turns. */
    logThreadOfDeletedTurn: compile<DeletionLogEntry & OwnerKey & { readonly id: string }>(
      'log-thread-of-deleted-turn',
      (slot) =>
        insertEntries(
          language,
          slot,
          sql`select turns.thread as name from turns where turns.id = ${slot('id')}
          and ${isTurnOfOwner(slot)}
          and ${hasNoTurnsLeft(sql`turns.thread`, slot('tenant'))}`,
        ),
    ),
    /** Logs a deleted conversation, or nothing if the conversation still exists. */
    logConversation: compile<DeletionLogEntry & { readonly id: string }>(
      'log-deleted-conversation',
      (slot) => {
        const id = sql`cast(${slot('id')} as text)`
        return insertEntries(
          language,
          slot,
          sql`select ${id} as name
          where not exists (select 1 from conversations where conversations.id = ${id})`,
        )
      },
    ),
    /**
     * Deletes a fact that was just written, and returns a row, if its thread, conversation or user
     * was deleted after the job began.
     */
    removeFact: compile<WrittenFactWithSource>(
      'remove-fact-of-deleted-source',
      (slot) => sql`delete from facts where facts.id = ${slot('id')}
        and ${isDeletedSince(
          sql`facts.tenant`,
          [sql`facts.scope`, sql`cast(${slot('sourceId')} as text)`, selectUserDeletionName(slot)],
          slot('jobStartedAtMs'),
        )} returning facts.id`,
    ),
    removeOldEntries: compile<{ readonly nowMs: number }>(
      'remove-old-log-entries',
      (slot) => sql`delete from forgotten
        where forgotten_at < ${slot(({ nowMs }) => nowMs - MAX_JOB_MS)}`,
    ),
  }
}

/**
 * Inserts an entry for each deleted thread, conversation or user. Its time is the later one of the replica and of the
 * database, and an existing entry keeps a later time: the clock of a replica may be slow, and jobs of other replicas
 * that began before the deletion must not look as if they began after it.
 */
function insertEntries(
  language: Engine['language'],
  slot: ParameterSlot<DeletionLogEntry>,
  names: SqlFragment,
): SqlFragment {
  const later = language === 'postgres' ? sql.raw('greatest') : sql.raw('max')
  return sql`insert into forgotten (tenant, name, forgotten_at)
    select cast(${slot('tenant')} as text), found.name,
      ${later}(cast(${slot('nowMs')} as bigint), ${DATABASE_TIME[language]})
    from (${names}) as found where found.name is not null
    on conflict (tenant, name) do update set forgotten_at = excluded.forgotten_at
    where forgotten.forgotten_at < excluded.forgotten_at`
}

/** Entries older than this are deleted, because every job that began before them has ended. */
const MAX_JOB_MS = 24 * 60 * 60 * 1000
