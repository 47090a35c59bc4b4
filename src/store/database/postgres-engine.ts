/**
 * Postgres through pg. Its connections are pipelined: the statements of a batch, with `begin` and
 * `commit` around them, leave together and cost one round trip.
 */
import { DatabaseError, Pool, TypeOverrides, types, type PoolClient } from 'pg'
import type { Engine, SqlQuery, SqlRows } from './engine-interface.ts'

export function openPostgres(url: string): Engine {
  const pool = new Pool({
    connectionString: url,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    types: int8AsNumber(),
  })
  // A connection that breaks while nobody uses it leaves the pool by itself.
  pool.on('error', ignore)
  pool.on('connect', (client) => void client.query(BY_INDEX).catch(ignore))
  return {
    language: 'postgres',
    read: (queries) => onOneClient(pool, queries),
    async write(queries, survives = 'power-cut') {
      if (survives !== 'power-cut') {
        const rows = await onOneClient(pool, [BEGIN, DO_NOT_WAIT, ...queries, COMMIT])
        return rows.slice(2, -1)
      }
      // A statement alone is a transaction already.
      if (queries.length === 1) return onOneClient(pool, queries)
      const rows = await onOneClient(pool, [BEGIN, ...queries, COMMIT])
      return rows.slice(1, -1)
    },
    close: () => pool.end(),
  }
}

/**
 * Every read here follows keys. Left alone, the planner would rather read whole tables where its
 * statistics are missing or wrong, and keep for the day a plan made while a table was small.
 */
const BY_INDEX =
  'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off'

/** The server answers before its log is on the disk; a transaction that waits takes it along. */
const DO_NOT_WAIT: SqlQuery = {
  name: null,
  sql: 'set local synchronous_commit = off',
  parameters: [],
}
const BEGIN: SqlQuery = { name: null, sql: 'begin', parameters: [] }
/** After a statement that failed, Postgres takes this for a rollback. */
const COMMIT: SqlQuery = { name: null, sql: 'commit', parameters: [] }

async function onOneClient(pool: Pool, queries: readonly SqlQuery[]): Promise<readonly SqlRows[]> {
  const client = await pool.connect()
  // Who waits for the queries hears of a broken connection; without a listener it would be thrown.
  client.on('error', ignore)
  const results = await Promise.allSettled(queries.map((query) => run(client, query)))
  client.off('error', ignore)
  // The first to fail is the cause; those after it say only that the transaction is aborted.
  const failed = results.find((result) => result.status === 'rejected')
  client.release(failed !== undefined && !isRefusal(failed.reason))
  if (failed !== undefined) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<SqlRows>).value)
}

async function run(client: PoolClient, { name, sql, parameters }: SqlQuery): Promise<SqlRows> {
  const text = { text: sql, values: [...parameters] }
  const { rows } = await client.query<object>(name === null ? text : { ...text, name })
  return rows
}

/** Whether the server itself said no, which leaves the connection in order. */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError
}

/** Counts and times fit into a number; pg by itself would make strings of them. */
function int8AsNumber(): TypeOverrides {
  const overrides = new TypeOverrides()
  overrides.setTypeParser(types.builtins.INT8, Number)
  return overrides
}

function ignore(): void {}
