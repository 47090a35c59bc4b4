/** D1, the database of Cloudflare Workers. Its one transaction is a batch of finished statements. */
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

/** As much of the binding as is used here. */
export interface D1Binding {
  readonly prepare: (sql: string) => D1Statement
  readonly batch: (
    statements: D1Statement[],
  ) => Promise<readonly { readonly results: readonly unknown[] }[]>
}

interface D1Statement {
  readonly bind: (...values: unknown[]) => D1Statement
}
