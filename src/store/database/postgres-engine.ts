/**
 * Engine for Postgres, with the driver `pg` in pipeline mode: `begin`, the statements of a
 * transaction and `commit` are sent together, so a transaction takes one round trip.
 */
import { DatabaseError, Pool, TypeOverrides, types, type PoolClient } from 'pg'
import type { Engine, SqlQuery, SqlRows } from './engine-interface.ts'

export function openPostgres(url: string, queryTimeoutMs = QUERY_TIMEOUT_MS): Engine {
  const pool = new Pool({
    connectionString: url,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: queryTimeoutMs,
    types: parseInt8AsNumber(),
  })
  // Ignores errors of idle connections: the pool removes a broken connection by itself.
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
      // Needs no `begin` and `commit`: a single statement is a transaction already.
      if (queries.length === 1) return runOnOneClient(pool, queries)
      const rows = await runOnOneClient(pool, [BEGIN, ...queries, limitCommit(queries)])
      return rows.slice(1, -1)
    },
    close: () => pool.end(),
  }
}

/** A deletion takes much less, because it is cut into short transactions. */
const QUERY_TIMEOUT_MS = 30_000
/** The longest time of a timer, 24 days. */
const LONG_QUERY_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Makes the query planner use indexes. All reads here look up keys. But with missing or wrong
 * statistics the planner chooses full table scans, and it caches a plan that it made while a table
 * was small. A bitmap scan reads all matching rows before the first, even if a query wants only the
 * last 100.
 */
const PREFER_INDEXES =
  'set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off'

/**
 * Makes the server respond before the commit is on the disk. The next transaction that waits for
 * the disk writes this one too.
 */
const DO_NOT_WAIT_FOR_DISK: SqlQuery = {
  name: null,
  sql: 'set local synchronous_commit = off',
  parameters: [],
}
const BEGIN: SqlQuery = { name: null, sql: 'begin', parameters: [] }
/** Ends a transaction. After a failed statement, Postgres treats a commit as a rollback. */
const COMMIT: SqlQuery = { name: null, sql: 'commit', parameters: [] }

async function runOnOneClient(
  pool: Pool,
  queries: readonly SqlQuery[],
): Promise<readonly SqlRows[]> {
  const client = await pool.connect()
  // The queries below report a broken connection. Without a listener, the `error` event would be
  // thrown as an exception.
  client.on('error', ignore)
  const results = await Promise.allSettled(queries.map((query) => run(client, query)))
  client.off('error', ignore)
  // Throws the first error only: later queries fail because the transaction is aborted.
  const failed = results.find((result) => result.status === 'rejected')
  client.release(failed !== undefined && !isServerError(failed.reason))
  if (failed !== undefined) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<SqlRows>).value)
}

/** The driver measures the time of a commit from the moment at which the queries before it are sent. */
function limitCommit(queries: readonly SqlQuery[]): SqlQuery {
  return queries.some(({ mayTakeLong }) => mayTakeLong) ? { ...COMMIT, mayTakeLong: true } : COMMIT
}

async function run(
  client: PoolClient,
  { name, sql, parameters, mayTakeLong }: SqlQuery,
): Promise<SqlRows> {
  const limit = mayTakeLong === true ? { query_timeout: LONG_QUERY_TIMEOUT_MS } : {}
  const text = { text: sql, values: [...parameters], ...limit }
  const { rows } = await client.query<object>(name === null ? text : { ...text, name })
  return rows
}

/** True if the server rejected a statement, which leaves the connection usable. */
function isServerError(error: unknown): boolean {
  return error instanceof DatabaseError
}

/**
 * Makes `pg` parse 64-bit integers as numbers instead of strings, because all counts and times are
 * below 2^53.
 */
function parseInt8AsNumber(): TypeOverrides {
  const overrides = new TypeOverrides()
  overrides.setTypeParser(types.builtins.INT8, Number)
  return overrides
}

function ignore(): void {}
