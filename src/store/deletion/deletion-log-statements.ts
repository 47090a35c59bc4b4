/**
 * The queries that make forgetting final. Whoever forgets notes what and when; whoever writes what was
 * long in the making asks behind it, in the same batch, whether it was forgotten meanwhile. Notes are
 * kept for longer than any work takes.
 */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
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
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner } from '../turns/turn-statements.ts'
import type { FactRow } from '../database/table-row-types.ts'

export interface DeletionLogStatements {
  readonly noteUser: CompiledStatement<DeletionLogEntry & { readonly user: string }>
  /** To be asked while the turn is there. */
  readonly noteThread: CompiledStatement<DeletionLogEntry & ThreadKey>
  /** The same once it is marked as deleted: nothing if its thread has others. */
  readonly noteDeleted: CompiledStatement<DeletionLogEntry & OwnerKey & { readonly id: string }>
  /** Nothing, if it is there. */
  readonly noteConversation: CompiledStatement<DeletionLogEntry & { readonly id: string }>
  /** To be asked behind a fact that was written: it goes at once, and returns a row. */
  readonly removeFact: CompiledStatement<DeletedFactKey>
  readonly removeNotes: CompiledStatement<{ readonly nowMs: number }>
}

export interface DeletedFactKey extends Pick<FactRow, 'id' | 'user_id'> {
  readonly begunAtMs: number
  /** What it was made from. */
  readonly of: string | null
}

export interface DeletionLogEntry {
  readonly tenant: string
  readonly nowMs: number
}

export function createDeletionLogStatements(language: Engine['language']): DeletionLogStatements {
  const write = createSqlCompiler(language)
  return {
    noteUser: write('note-forgotten-user', (slot) =>
      noted(
        slot,
        sql`select cast(${slot(({ user }) => formatUserDeletionName(user))} as text) as name where 1 = 1`,
      ),
    ),
    noteThread: write('note-forgotten-thread', (slot) => {
      const named = (name: RawBuilder<unknown>) => selectFromNamedTurn(slot, sql`${name} as name`)
      return noted(
        slot,
        sql`${named(sql`turns.thread`)} union ${named(sql`turns.conversation`)}
          union ${named(sql`${sql.lit(THREAD_DELETION_PREFIX)} || turns.thread`)}`,
      )
    }),
    noteDeleted: write('note-deleted-thread', (slot) =>
      noted(
        slot,
        sql`select turns.thread as name from turns where turns.id = ${slot(({ id }) => id)}
          and ${isTurnOfOwner(slot)}
          and ${hasNoTurnsLeft(
            sql`turns.thread`,
            slot(({ tenant }) => tenant),
          )}`,
      ),
    ),
    noteConversation: write('note-forgotten-conversation', (slot) => {
      const id = sql`cast(${slot((key) => key.id)} as text)`
      return noted(
        slot,
        sql`select ${id} as name
          where not exists (select 1 from conversations where conversations.id = ${id})`,
      )
    }),
    removeFact: write(
      'remove-forgotten-fact',
      (slot) => sql`delete from facts where facts.id = ${slot(({ id }) => id)}
        and ${isDeletedSince(
          sql`facts.tenant`,
          [
            sql`facts.scope`,
            sql`cast(${slot((fact) => fact.of as string)} as text)`,
            selectUserDeletionName(slot),
          ],
          slot(({ begunAtMs }) => begunAtMs),
        )} returning facts.id`,
    ),
    removeNotes: write(
      'remove-notes-of-forgotten',
      (slot) => sql`delete from forgotten
        where forgotten_at < ${slot(({ nowMs }) => nowMs - LONGEST_WORK_MS)}`,
    ),
  }
}

/** Time goes on, also where the clock of one is late. */
function noted(
  slot: ParameterSlot<DeletionLogEntry>,
  names: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`insert into forgotten (tenant, name, forgotten_at)
    select cast(${slot(({ tenant }) => tenant)} as text), found.name,
      cast(${slot(({ nowMs }) => nowMs)} as bigint)
    from (${names}) as found where found.name is not null
    on conflict (tenant, name) do update set forgotten_at = excluded.forgotten_at
    where forgotten.forgotten_at < excluded.forgotten_at`
}

const LONGEST_WORK_MS = 24 * 60 * 60 * 1000
