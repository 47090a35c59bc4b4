/**
 * Makes writes wait for deletions on Postgres, where both run at the same time and would not see
 * each other. SQLite and D1 run one write at a time and need no locks.
 *
 * A deletion may take long, and a new turn does not wait for its end. It waits only for the
 * deletion log entry, which is written before any row is deleted, and for media that are being
 * deleted.
 */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine, SqlQuery, SqlRows, WriteDurability } from '../database/engine-interface.ts'

/** Queries that take a lock. They come first in a transaction. */
export interface DeletionLocks {
  /** Taken by writes of derived data; they exclude deletions, but not each other. */
  readonly derivedDataWrite: (tenant: string) => readonly SqlQuery[]
  readonly deletion: (tenant: string) => readonly SqlQuery[]
  /** Taken by new turns; they exclude the writing of a deletion log entry, but not each other. */
  readonly turnCreation: (tenant: string) => readonly SqlQuery[]
  readonly deletionLogEntry: (tenant: string) => readonly SqlQuery[]
}

export function getDeletionLocks(language: Engine['language']): DeletionLocks {
  return LOCKS[language]
}

function createLocks(language: Engine['language']): DeletionLocks {
  const compile = createStatementCompiler(language)
  const compileLock = (name: string, lock: string, number: number) => {
    const statement = compile<{ readonly tenant: string }>(
      name,
      (slot) => sql`select ${sql.raw(lock)}(${sql.lit(number)}, hashtext(${slot('tenant')}))`,
    )
    return (tenant: string) => (language === 'postgres' ? [statement({ tenant })] : [])
  }
  return {
    derivedDataWrite: compileLock('wait-for-forgetting', SHARED, DERIVED_DATA_LOCK),
    deletion: compileLock('wait-to-forget', EXCLUSIVE, DERIVED_DATA_LOCK),
    turnCreation: compileLock('wait-for-notes', SHARED, TURN_LOCK),
    deletionLogEntry: compileLock('wait-to-note', EXCLUSIVE, TURN_LOCK),
  }
}

const SHARED = 'pg_advisory_xact_lock_shared'
const EXCLUSIVE = 'pg_advisory_xact_lock'
/** Numbers of the gateway's advisory locks, arbitrary but unique in the database. */
const [DERIVED_DATA_LOCK, TURN_LOCK] = [20_250_713, 20_250_714]

const LOCKS: Readonly<Record<Engine['language'], DeletionLocks>> = {
  sqlite: createLocks('sqlite'),
  postgres: createLocks('postgres'),
}

/** Takes the lock, runs the queries and returns their rows. */
export async function writeAfterLock(
  engine: Engine,
  lock: keyof DeletionLocks,
  tenant: string,
  queries: readonly SqlQuery[],
  survives?: WriteDurability,
): Promise<readonly SqlRows[]> {
  const lockQueries = getDeletionLocks(engine.language)[lock](tenant)
  return (await engine.write([...lockQueries, ...queries], survives)).slice(lockQueries.length)
}
