/**
 * Makes writes wait for deletions on Postgres, where both can run at the same time without seeing
 * each other's changes. SQLite and D1 run one write at a time and need no locks.
 *
 * A deletion may take long, but a new turn does not wait for its end. It waits only until the
 * deletion log entry is written, which happens before any row is deleted. If it contains media that
 * are being deleted, it also waits for those.
 */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine, SqlQuery, SqlRows, WriteDurability } from '../database/engine-interface.ts'

/** Builds the queries that take a lock. These must be the first queries of a transaction. */
export interface DeletionLockQueries {
  /**
   * Locks for a write of derived data, e.g. a summary: waits for deletions, but not for writes of
   * other derived data.
   */
  readonly derivedDataWrite: (tenant: string) => readonly SqlQuery[]
  readonly deletion: (tenant: string) => readonly SqlQuery[]
  /**
   * Locks for a new turn: waits while a deletion log entry is written, but not for other new turns.
   */
  readonly turnCreation: (tenant: string) => readonly SqlQuery[]
  readonly deletionLogEntry: (tenant: string) => readonly SqlQuery[]
}

export function getDeletionLocks(language: Engine['language']): DeletionLockQueries {
  return LOCKS[language]
}

function createLocks(language: Engine['language']): DeletionLockQueries {
  const compile = createStatementCompiler(language)
  const compileLock = (name: string, lock: string, number: number) => {
    const statement = compile<{ readonly tenant: string }>(
      name,
      (slot) => sql`select ${sql.raw(lock)}(${sql.lit(number)}, hashtext(${slot('tenant')}))`,
    )
    return (tenant: string) => (language === 'postgres' ? [statement({ tenant })] : [])
  }
  return {
    derivedDataWrite: compileLock('lock-derived-data-write', SHARED, DERIVED_DATA_LOCK),
    deletion: compileLock('lock-deletion', EXCLUSIVE, DERIVED_DATA_LOCK),
    turnCreation: compileLock('lock-turn-creation', SHARED, TURN_LOCK),
    deletionLogEntry: compileLock('lock-deletion-log-entry', EXCLUSIVE, TURN_LOCK),
  }
}

const SHARED = 'pg_advisory_xact_lock_shared'
const EXCLUSIVE = 'pg_advisory_xact_lock'
/**
 * Numbers of the gateway's advisory locks in Postgres. The values have no meaning, but must be
 * unique in the database.
 */
const [DERIVED_DATA_LOCK, TURN_LOCK] = [20_250_713, 20_250_714]

const LOCKS: Readonly<Record<Engine['language'], DeletionLockQueries>> = {
  sqlite: createLocks('sqlite'),
  postgres: createLocks('postgres'),
}

/**
 * Runs the queries in one transaction that first takes the lock, and returns the rows of each
 * query.
 */
export async function writeAfterLock(
  engine: Engine,
  lock: keyof DeletionLockQueries,
  tenant: string,
  queries: readonly SqlQuery[],
  survives?: WriteDurability,
): Promise<readonly SqlRows[]> {
  const lockQueries = getDeletionLocks(engine.language)[lock](tenant)
  return (await engine.write([...lockQueries, ...queries], survives)).slice(lockQueries.length)
}
