/**
 * Opens one connection to a SQLite file. The connection reads, and commits several batches of
 * queries in one transaction. All calls are synchronous, so they block the thread of the caller.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqlQuery, SqlRows, WriteDurability, SqlValue } from './engine-interface.ts'

export interface SqliteConnection {
  readonly read: (query: SqlQuery) => SqlRows
  /**
   * Runs the batches in one transaction. Each batch succeeds or fails on its own: its result is the
   * rows of its queries, or the error. When the call returns, the changes of successful batches are
   * on the disk.
   */
  readonly commit: (
    batches: readonly (readonly SqlQuery[])[],
    survives?: Durability,
  ) => readonly BatchResult[]
  /** True if the file may contain texts of deleted rows. */
  readonly needsRewrite: () => boolean
  /** True if `rewriteFile` takes at most about 100 ms. */
  readonly isRewriteShort: () => boolean
  /**
   * Rewrites the file without the texts of deleted rows: when SQLite moves a row, it leaves a copy between the rows of a
   * page, and earlier versions left texts in free pages. Takes about 2.5 s for 512 MB. Of a larger file, only empties
   * the write-ahead log, which holds former contents of pages.
   */
  readonly rewriteFile: () => void
  readonly close: () => void
}

/** Marks a file that may contain texts of deleted rows. Files of earlier versions have this mark, too. */
export const NEEDS_REWRITE: SqlQuery = {
  name: null,
  sql: 'pragma user_version = 0',
  parameters: [],
}
const MARK_REWRITTEN = 'pragma user_version = 1'

export type BatchResult = readonly SqlRows[] | Error

/** Maximum wait for another process that has locked the file. */
const BUSY_MS = 10_000

/**
 * The write-ahead log is merged into the file at every 16 MB (4,000 pages) instead of 4 MB, because small turns write the
 * same pages again and again. `secure_delete` overwrites deleted rows and free pages. `journal_size_limit` (32 MB)
 * returns the space of a log that a large transaction has made longer.
 */
const WRITE_PRAGMAS =
  'pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 4000; pragma secure_delete = on; pragma journal_size_limit = 33554432'

/** Durability of a commit. The writer thread commits a `whenever` batch as `kill`. */
type Durability = Exclude<WriteDurability, 'whenever'>

/**
 * Value of `pragma synchronous`. With `normal`, committed data is in the page cache of the
 * operating system; with `full`, it is on the disk.
 */
const SYNCHRONOUS: Readonly<Record<Durability, string>> = {
  kill: 'normal',
  'power-cut': 'full',
}

/** `pageCacheBytes`: maximum memory for pages of the file; by default 2 MB. */
export function openSqliteConnection(
  path: string,
  mode: 'read' | 'write',
  pageCacheBytes = 2_000_000,
): SqliteConnection {
  const database = new DatabaseSync(path, { readOnly: mode === 'read', timeout: BUSY_MS })
  // A negative size is in KiB.
  const cacheSize = `pragma cache_size = -${Math.max(1, Math.floor(pageCacheBytes / 1024))}`
  const pragmas = mode === 'write' ? `${WRITE_PRAGMAS}; ${cacheSize}` : cacheSize
  retryWhileBusy(() => database.exec(pragmas))
  const readNumber = (pragma: string): number =>
    database.prepare(`pragma ${pragma}`).get()?.[pragma] as number
  // A new file has at most one page, the header.
  if (mode === 'write' && readNumber('page_count') <= 1) database.exec(MARK_REWRITTEN)
  let durability: Durability = 'power-cut'
  const commit = createCommitter(database)
  const statements = new Map<string, StatementRunner>()
  const getRunner = ({ name, sql }: SqlQuery): StatementRunner => {
    if (name === null) return createRunner(database.prepare(sql))
    let statement = statements.get(name)
    if (statement === undefined) {
      statements.set(name, (statement = createRunner(database.prepare(sql))))
    }
    return statement
  }
  const run = (query: SqlQuery): SqlRows => getRunner(query)(query.parameters)
  return {
    read: run,
    commit(batches, survives = 'power-cut') {
      if (survives !== durability) database.exec(`pragma synchronous = ${SYNCHRONOUS[survives]}`)
      durability = survives
      return commit(batches, run)
    },
    needsRewrite: () => readNumber('user_version') === 0,
    isRewriteShort() {
      const pages = readNumber('page_count')
      return pages <= MAX_QUICKLY_REWRITTEN_PAGES || pages > MAX_REWRITTEN_PAGES
    },
    rewriteFile() {
      const isRewritten = readNumber('page_count') <= MAX_REWRITTEN_PAGES
      database.exec(
        `${isRewritten ? `vacuum; ${MARK_REWRITTEN};` : ''} pragma wal_checkpoint(truncate)`,
      )
    },
    close: () => database.close(),
  }
}

/** A file up to 16 MB is rewritten in about 80 ms. */
const MAX_QUICKLY_REWRITTEN_PAGES = 4_096
/** Maximum size of a file that is rewritten: 512 MB, because no row can be written meanwhile. */
const MAX_REWRITTEN_PAGES = 131_072

type StatementRunner = (parameters: readonly SqlValue[]) => SqlRows

/**
 * Returns a function that runs a statement and returns its rows. Builds the row objects itself,
 * with one shape, because reading the slow dictionary objects that `node:sqlite` builds takes a
 * third longer.
 */
function createRunner(statement: StatementSync): StatementRunner {
  statement.setReturnArrays(true)
  const columns = statement.columns().map(({ name }) => name)
  const empty: Record<string, unknown> = Object.fromEntries(columns.map((name) => [name, null]))
  return (parameters) =>
    (statement.all(...parameters) as unknown as readonly (readonly unknown[])[]).map((values) => {
      const row = { ...empty }
      columns.forEach((name, index) => (row[name] = values[index]))
      return row
    })
}

/**
 * Retries while another process has locked the file, for at most `BUSY_MS`. SQLite's own timeout
 * does not cover the switch of a new file to WAL mode: if two processes switch at once, the second
 * fails without waiting.
 */
function retryWhileBusy(work: () => void): void {
  const untilMs = performance.now() + BUSY_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY
      if (!isBusy || performance.now() > untilMs) throw error
      Atomics.wait(NEVER_NOTIFIED, 0, 0, 20)
    }
  }
}

/** The error code SQLITE_BUSY. */
const BUSY = 5
/**
 * An array for `Atomics.wait`, which is a synchronous sleep here, because no thread notifies it.
 */
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4))

/**
 * Prepares `begin`, `commit` and similar statements once and returns the function that commits
 * batches.
 *
 * Usually all batches succeed, so they run without savepoints. With a savepoint, SQLite copies
 * every page that the statements change, which for a long turn is more data than it writes. Only if
 * a batch fails, the transaction is rolled back and every batch runs again in a savepoint of its
 * own.
 */
function createCommitter(database: DatabaseSync) {
  const begin = database.prepare('begin immediate')
  const end = database.prepare('commit')
  const setSavepoint = database.prepare('savepoint batch')
  const releaseSavepoint = database.prepare('release batch')

  const runInSavepoint = (
    batch: readonly SqlQuery[],
    run: (query: SqlQuery) => SqlRows,
  ): BatchResult => {
    setSavepoint.run()
    try {
      const rows = batch.map(run)
      releaseSavepoint.run()
      return rows
    } catch (error) {
      // After an error such as a full disk, SQLite ends the transaction, and there is no savepoint
      // to return to.
      if (!database.isTransaction) throw error
      database.exec('rollback to batch')
      releaseSavepoint.run()
      return toError(error)
    }
  }
  return (
    batches: readonly (readonly SqlQuery[])[],
    run: (query: SqlQuery) => SqlRows,
  ): readonly BatchResult[] => {
    try {
      begin.run()
      let committed: readonly BatchResult[] | null = runAll(batches, run)
      if (committed === null) {
        // After an error such as a full disk, SQLite has ended the transaction already.
        if (database.isTransaction) database.exec('rollback')
        begin.run()
        committed = batches.map((batch) => runInSavepoint(batch, run))
      }
      end.run()
      return committed
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      return batches.map(() => toError(error))
    }
  }
}

/** Runs all batches and returns their rows, or `null` if one of them fails. */
function runAll(
  batches: readonly (readonly SqlQuery[])[],
  run: (query: SqlQuery) => SqlRows,
): readonly (readonly SqlRows[])[] | null {
  try {
    return batches.map((batch) => batch.map(run))
  } catch {
    return null
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
