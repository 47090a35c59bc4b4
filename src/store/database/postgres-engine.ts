/**
 * Engine for Postgres, with the driver pg in pipeline mode: the statements of a transaction, with
 * `begin` and `commit`, are sent together and take one round trip.
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
  // A broken idle connection leaves the pool by itself.
  pool.on('error', ignore)
  pool.on('connect', (client) => void client.query(PREFER_INDEXES).catch(ignore))
  return {
    language: 'postgres',
    read: (queries) => runOnOneClient(pool, queries),
    async write(queries, survives = 'power-cut') {
      if (survives !== 'power-cut') {
        const rows = await runOnOneClient(pool, [BEGIN, DO_NOT_WAIT_FOR_DISK, ...queries, COMMIT])
        return rows.slice(2, -1)
      }
      // A single statement is a transaction already.
      if (queries.length === 1) return runOnOneClient(pool, queries)
      const rows = await runOnOneClient(pool, [BEGIN, ...queries, COMMIT])
      return rows.slice(1, -1)
    },
    close: () => pool.end(),
  }
}

/**
 * Makes the planner follow indexes. All reads here look up keys, but with missing or wrong
 * statistics the planner would choose full table scans, and cache a plan that it made while a table
 * was small.
 */
const PREFER_INDEXES =
  'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off'

/**
 * Makes the server respond before its log is on the disk. Transactions that wait for the disk flush
 * this one too.
 */
const DO_NOT_WAIT_FOR_DISK: SqlQuery = {
  name: null,
  sql: 'set local synchronous_commit = off',
  parameters: [],
}
const BEGIN: SqlQuery = { name: null, sql: 'begin', parameters: [] }
/** After a failed statement Postgres treats a commit as a rollback. */
const COMMIT: SqlQuery = { name: null, sql: 'commit', parameters: [] }

async function runOnOneClient(
  pool: Pool,
  queries: readonly SqlQuery[],
): Promise<readonly SqlRows[]> {
  const client = await pool.connect()
  // The queries below report a broken connection. Without a listener, the error event would be
  // thrown.
  client.on('error', ignore)
  const results = await Promise.allSettled(queries.map((query) => run(client, query)))
  client.off('error', ignore)
  // The first failure is the cause. Those after it only say that the transaction is aborted.
  const failed = results.find((result) => result.status === 'rejected')
  client.release(failed !== undefined && !isServerError(failed.reason))
  if (failed !== undefined) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<SqlRows>).value)
}

async function run(client: PoolClient, { name, sql, parameters }: SqlQuery): Promise<SqlRows> {
  const text = { text: sql, values: [...parameters] }
  const { rows } = await client.query<object>(name === null ? text : { ...text, name })
  return rows
}

/** True if the server rejected a statement, which leaves the connection usable. */
function isServerError(error: unknown): boolean {
  return error instanceof DatabaseError
}

/**
 * Makes pg parse 64-bit integers as numbers instead of strings. Counts and times stay below 2^53.
 */
function int8AsNumber(): TypeOverrides {
  const overrides = new TypeOverrides()
  overrides.setTypeParser(types.builtins.INT8, Number)
  return overrides
}

function ignore(): void {}
