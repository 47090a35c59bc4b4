/** Changes the time of a real database, and the leases that it stores. */
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'

/** Moves the end of a lease, e.g. by -60 s, as if it had been renewed 60 s earlier. */
export async function moveLease(
  engine: Engine,
  table: 'replicas' | 'conversations',
  id: string,
  byMs: number,
): Promise<void> {
  const column = table === 'replicas' ? 'alive_until' : 'busy_until'
  const sql = `update ${table} set ${column} = ${column} + ${byMs} where id = '${id}'`
  await engine.write([{ name: null, sql, parameters: [] }])
}

/** An engine whose database has another time than the machine: `clock.aheadMs` later. */
export function withClock(engine: Engine): {
  readonly engine: Engine
  readonly clock: { aheadMs: number }
} {
  const clock = { aheadMs: 0 }
  const change = ({ name, sql, parameters }: SqlQuery): SqlQuery => ({
    // Engines prepare a text once for each name.
    name: name === null ? null : `${name} ${clock.aheadMs}`,
    sql: sql
      .replaceAll("unixepoch('subsec')", `(unixepoch('subsec') + ${clock.aheadMs / 1000})`)
      .replaceAll(
        'statement_timestamp()',
        `(statement_timestamp() + interval '${clock.aheadMs} milliseconds')`,
      ),
    parameters,
  })
  return {
    clock,
    engine: {
      ...engine,
      read: (queries) => engine.read(queries.map(change)),
      write: (queries, survives) => engine.write(queries.map(change), survives),
    },
  }
}
