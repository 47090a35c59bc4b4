/**
 * SQL for the deletion log (table `forgotten`), which makes deletions final. An entry contains the
 * name of a deleted thread, conversation or user, and the time. A slow job, e.g. a summary, checks in
 * the transaction of its write whether its source was deleted since the job began. Entries are
 * stored for 24 hours, longer than any job takes.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  hasNoTurnsLeft,
  selectFromNamedTurn,
  type ThreadKey,
} from './expiry-and-deletion-statements.ts'
import {
  isDeletedSince,
  formatUserDeletionName,
  selectUserDeletionName,
  THREAD_DELETION_PREFIX,
} from './deleted-since-condition.ts'
import { isTurnOfOwner, type OwnerKey } from '../owner.ts'
import type { FactRow } from '../database/table-row-types.ts'

export interface DeletionLogStatements {
  readonly logUser: CompiledStatement<DeletionLogEntry & { readonly user: string }>
  /** Logs the thread and the conversation of a turn. Must run before the turn is deleted. */
  readonly logThread: CompiledStatement<DeletionLogEntry & ThreadKey>
  /** Logs the thread of a turn that is marked as deleted, unless the thread has other turns. */
  readonly logThreadOfDeletedTurn: CompiledStatement<
    DeletionLogEntry & OwnerKey & { readonly id: string }
  >
  /** Logs a deleted conversation, or nothing if the conversation still exists. */
  readonly logConversation: CompiledStatement<DeletionLogEntry & { readonly id: string }>
  /**
   * Runs after a fact was written: if the source of the fact was deleted in the meantime, deletes the
   * fact and returns a row.
   */
  readonly removeFact: CompiledStatement<DeletedFactKey>
  readonly removeOldEntries: CompiledStatement<{ readonly nowMs: number }>
}

export interface DeletedFactKey extends Pick<FactRow, 'id' | 'user_id'> {
  readonly begunAtMs: number
  /** The thread or conversation that the fact was derived from. */
  readonly source: string | null
}

export interface DeletionLogEntry {
  readonly tenant: string
  readonly nowMs: number
}

export function createDeletionLogStatements(language: Engine['language']): DeletionLogStatements {
  const compile = createStatementCompiler(language)
  return {
    logUser: compile('log-deleted-user', (slot) =>
      insertEntries(
        slot,
        sql`select cast(${slot(({ user }) => formatUserDeletionName(user))} as text) as name where 1 = 1`,
      ),
    ),
    logThread: compile('log-deleted-thread', (slot) => {
      const selectName = (name: SqlFragment) => selectFromNamedTurn(slot, sql`${name} as name`)
      return insertEntries(
        slot,
        sql`${selectName(sql`turns.thread`)} union ${selectName(sql`turns.conversation`)}
          union ${selectName(sql`${sql.lit(THREAD_DELETION_PREFIX)} || turns.thread`)}`,
      )
    }),
    logThreadOfDeletedTurn: compile('log-thread-of-deleted-turn', (slot) =>
      insertEntries(
        slot,
        sql`select turns.thread as name from turns where turns.id = ${slot('id')}
          and ${isTurnOfOwner(slot)}
          and ${hasNoTurnsLeft(sql`turns.thread`, slot('tenant'))}`,
      ),
    ),
    logConversation: compile('log-deleted-conversation', (slot) => {
      const id = sql`cast(${slot('id')} as text)`
      return insertEntries(
        slot,
        sql`select ${id} as name
          where not exists (select 1 from conversations where conversations.id = ${id})`,
      )
    }),
    removeFact: compile(
      'remove-fact-of-deleted-source',
      (slot) => sql`delete from facts where facts.id = ${slot('id')}
        and ${isDeletedSince(
          sql`facts.tenant`,
          [sql`facts.scope`, sql`cast(${slot('source')} as text)`, selectUserDeletionName(slot)],
          slot('begunAtMs'),
        )} returning facts.id`,
    ),
    removeOldEntries: compile(
      'remove-old-log-entries',
      (slot) => sql`delete from forgotten
        where forgotten_at < ${slot(({ nowMs }) => nowMs - MAX_JOB_MS)}`,
    ),
  }
}

/**
 * Inserts an entry for each deleted thread, conversation or user. The time of an existing entry is
 * only ever raised, because the clock of a replica may be slow.
 */
function insertEntries(slot: ParameterSlot<DeletionLogEntry>, names: SqlFragment): SqlFragment {
  return sql`insert into forgotten (tenant, name, forgotten_at)
    select cast(${slot('tenant')} as text), found.name,
      cast(${slot('nowMs')} as bigint)
    from (${names}) as found where found.name is not null
    on conflict (tenant, name) do update set forgotten_at = excluded.forgotten_at
    where forgotten.forgotten_at < excluded.forgotten_at`
}

/** Entries older than this are deleted, because every job that began before them has ended. */
const MAX_JOB_MS = 24 * 60 * 60 * 1000
