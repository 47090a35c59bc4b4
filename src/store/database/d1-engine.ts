/**
 * Engine for D1, the database of Cloudflare Workers. D1 has no transactions other than a batch of
 * prepared statements.
 */
import type { Engine, SqlQuery, SqlRows } from './engine-interface.ts'

export function openD1(database: D1Binding): Engine {
  const prepare = ({ sql, parameters }: SqlQuery): D1Statement =>
    database.prepare(sql).bind(...parameters)
  const run = async (queries: readonly SqlQuery[]): Promise<readonly SqlRows[]> => {
    const results = await database.batch(queries.map(prepare))
    return results.map((result) => result.results)
  }
  return {
    language: 'sqlite',
    read: run,
    write: run,
    close: () => Promise.resolve(),
  }
}

/** The methods of a D1 binding that the engine uses. */
export interface D1Binding {
  readonly prepare: (sql: string) => D1Statement
  readonly batch: (
    statements: D1Statement[],
  ) => Promise<readonly { readonly results: readonly unknown[] }[]>
}

interface D1Statement {
  readonly bind: (...values: unknown[]) => D1Statement
}
