/**
 * Who waits for whom while something is forgotten. On a database that lets both happen at once, who
 * writes and who forgets would overlook each other; elsewhere nobody has to wait.
 *
 * Forgetting much takes its time, and an answer does not wait for it to begin: only for the note that
 * something is forgotten, which is there before any of it goes, and for a medium that is going.
 */
import { sql } from 'kysely'
import { sqlCompiler } from '../database/compile-statement.ts'
import type { Engine, Query, Rows, Survives } from '../database/engine-interface.ts'

/** To be asked first of all. */
export interface ForgettingLocks {
  /** By who writes what was long in the making, and by who forgets. */
  readonly besideOthers: (tenant: string) => readonly Query[]
  readonly alone: (tenant: string) => readonly Query[]
  /** By who opens a turn, and by who notes, ahead of all else, that something is forgotten. */
  readonly besideNotes: (tenant: string) => readonly Query[]
  readonly beforeTurns: (tenant: string) => readonly Query[]
}

export function forgettingLocks(language: Engine['language']): ForgettingLocks {
  return LOCKS[language]
}

function createLocks(language: Engine['language']): ForgettingLocks {
  const query = sqlCompiler(language)
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

const LOCKS: Readonly<Record<Engine['language'], ForgettingLocks>> = {
  sqlite: createLocks('sqlite'),
  postgres: createLocks('postgres'),
}

/** What the queries yield, once who is to be waited for is done. */
export async function writeBehind(
  engine: Engine,
  lock: keyof ForgettingLocks,
  tenant: string,
  queries: readonly Query[],
  survives?: Survives,
): Promise<readonly Rows[]> {
  const waiting = forgettingLocks(engine.language)[lock](tenant)
  return (await engine.write([...waiting, ...queries], survives)).slice(waiting.length)
}
