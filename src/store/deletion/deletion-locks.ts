/**
 * Who waits for whom while something is forgotten. On a database that lets both happen at once, who
 * writes and who forgets would overlook each other; elsewhere nobody has to wait.
 *
 * Forgetting much takes its time, and an answer does not wait for it to begin: only for the note that
 * something is forgotten, which is there before any of it goes, and for a medium that is going.
 */
import { sql } from 'kysely'
import { createSqlCompiler } from '../database/compile-statement.ts'
import type { Engine, SqlQuery, SqlRows, WriteDurability } from '../database/engine-interface.ts'

/** To be asked first of all. */
export interface DeletionLocks {
  /** By who writes what was long in the making, and by who forgets. */
  readonly besideOthers: (tenant: string) => readonly SqlQuery[]
  readonly alone: (tenant: string) => readonly SqlQuery[]
  /** By who opens a turn, and by who notes, ahead of all else, that something is forgotten. */
  readonly besideNotes: (tenant: string) => readonly SqlQuery[]
  readonly beforeTurns: (tenant: string) => readonly SqlQuery[]
}

export function getDeletionLocks(language: Engine['language']): DeletionLocks {
  return LOCKS[language]
}

function createLocks(language: Engine['language']): DeletionLocks {
  const query = createSqlCompiler(language)
  const waiting = (name: string, lock: string, number: number) => {
    const statement = query<string>(
      name,
      (slot) =>
        sql`select ${sql.raw(lock)}(${sql.lit(number)}, hashtext(${slot((tenant) => tenant)}))`,
    )
    return (tenant: string) => (language === 'postgres' ? [statement(tenant)] : [])
  }
  return {
    besideOthers: waiting('wait-for-forgetting', SHARED, WORK),
    alone: waiting('wait-to-forget', EXCLUSIVE, WORK),
    besideNotes: waiting('wait-for-notes', SHARED, TURNS),
    beforeTurns: waiting('wait-to-note', EXCLUSIVE, TURNS),
  }
}

const SHARED = 'pg_advisory_xact_lock_shared'
const EXCLUSIVE = 'pg_advisory_xact_lock'
/** Among the locks of a database, ours. */
const [WORK, TURNS] = [20_250_713, 20_250_714]

const LOCKS: Readonly<Record<Engine['language'], DeletionLocks>> = {
  sqlite: createLocks('sqlite'),
  postgres: createLocks('postgres'),
}

/** What the queries yield, once who is to be waited for is done. */
export async function writeAfterLock(
  engine: Engine,
  lock: keyof DeletionLocks,
  tenant: string,
  queries: readonly SqlQuery[],
  survives?: WriteDurability,
): Promise<readonly SqlRows[]> {
  const waiting = getDeletionLocks(engine.language)[lock](tenant)
  return (await engine.write([...waiting, ...queries], survives)).slice(waiting.length)
}
