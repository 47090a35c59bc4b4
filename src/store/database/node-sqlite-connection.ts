/**
 * One connection to a SQLite file: reading, and committing several batches in one transaction.
 * Synchronous; who calls it decides on which thread.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqlQuery, SqlRows, WriteDurability, SqlValue } from './engine-interface.ts'

export interface SqliteConnection {
  readonly read: (query: SqlQuery) => SqlRows
  /**
   * Runs every batch or none of it, whatever becomes of the others, and yields what its queries
   * return, or why it failed. What succeeded is on the disk.
   */
  readonly commit: (
    batches: readonly (readonly SqlQuery[])[],
    survives?: Durability,
  ) => readonly BatchResult[]
  readonly close: () => void
}

export type BatchResult = readonly SqlRows[] | Error

/** Several processes may share the file, and each waits this long for the others. */
const BUSY_MS = 10_000

const PRAGMAS = {
  // What small turns write again and again is folded into the file at every 16 MB of log, not at 4.
  // And where a page is given another use, no word of what it held before is left in its gaps: nobody
  // would find it there to seal it. It costs no writing, for the page is written anyway.
  write:
    'pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 4000; pragma secure_delete = fast',
  // 32 MB, when they are needed: a long conversation is read again with every one of its turns.
  read: 'pragma cache_size = -32000',
}

/** What may wait has waited before it comes here. */
type Durability = Exclude<WriteDurability, 'whenever'>

/** With `normal` a commit is with the system, with `full` it is on the disk. */
const SYNCHRONOUS: Readonly<Record<Durability, string>> = {
  kill: 'normal',
  'power-cut': 'full',
}

export function openSqliteConnection(path: string, mode: 'read' | 'write'): SqliteConnection {
  const database = new DatabaseSync(path, { readOnly: mode === 'read', timeout: BUSY_MS })
  patiently(() => database.exec(PRAGMAS[mode]))
  let promised: Durability = 'power-cut'
  const commit = committer(database)
  const statements = new Map<string, Prepared>()
  const prepared = ({ name, sql }: SqlQuery): Prepared => {
    if (name === null) return rowsBy(database.prepare(sql))
    let statement = statements.get(name)
    if (statement === undefined) {
      statements.set(name, (statement = rowsBy(database.prepare(sql))))
    }
    return statement
  }
  const run = (query: SqlQuery): SqlRows => prepared(query)(query.parameters)
  return {
    read: run,
    commit(batches, survives = 'power-cut') {
      if (survives !== promised) database.exec(`pragma synchronous = ${SYNCHRONOUS[survives]}`)
      promised = survives
      return commit(batches, run)
    },
    close: () => database.close(),
  }
}

type Prepared = (parameters: readonly SqlValue[]) => SqlRows

/**
 * What a statement yields; one that returns nothing yields no rows. Rows are made objects here, all of
 * one shape: SQLite would make each of them a dictionary, which takes a third longer.
 */
function rowsBy(statement: StatementSync): Prepared {
  statement.setReturnArrays(true)
  const columns = statement.columns().map(({ name }) => name)
  const empty: Record<string, unknown> = Object.fromEntries(columns.map((name) => [name, null]))
  return (parameters) =>
    (statement.all(...parameters) as unknown as readonly (readonly unknown[])[]).map((values) => {
      const row = { ...empty }
      columns.forEach((name, at) => (row[name] = values[at]))
      return row
    })
}

/**
 * Of two processes that make a new file to one with a log at once, SQLite refuses one without waiting
 * at all. It is asked again for as long as any other would wait.
 */
function patiently(work: () => void): void {
  const until = Date.now() + BUSY_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY
      if (!isBusy || Date.now() > until) throw error
      Atomics.wait(NOBODY, 0, 0, 20)
    }
  }
}

/** As SQLite names it. */
const BUSY = 5
/** Waited for, to let a moment pass. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4))

/**
 * What stands around every batch is prepared once, or each would have it parsed again.
 *
 * Nearly always all batches succeed, and then none of them needs a savepoint, for which SQLite would set
 * aside every page that each of its statements changes: of a long turn that is more than it writes. Only
 * where one fails, all of them are undone and run again, each by itself.
 */
function committer(database: DatabaseSync) {
  const begin = database.prepare('begin immediate')
  const end = database.prepare('commit')
  const mark = database.prepare('savepoint batch')
  const unmark = database.prepare('release batch')

  const inSavepoint = (
    batch: readonly SqlQuery[],
    run: (query: SqlQuery) => SqlRows,
  ): BatchResult => {
    mark.run()
    try {
      const rows = batch.map(run)
      unmark.run()
      return rows
    } catch (error) {
      // A full disk ends the whole transaction, and then there is no savepoint to return to.
      if (!database.isTransaction) throw error
      database.exec('rollback to batch')
      unmark.run()
      return asError(error)
    }
  }
  return (
    batches: readonly (readonly SqlQuery[])[],
    run: (query: SqlQuery) => SqlRows,
  ): readonly BatchResult[] => {
    try {
      begin.run()
      let committed: readonly BatchResult[] | null = allOf(batches, run)
      if (committed === null) {
        // A full disk has ended the transaction.
        if (database.isTransaction) database.exec('rollback')
        begin.run()
        committed = batches.map((batch) => inSavepoint(batch, run))
      }
      end.run()
      return committed
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      return batches.map(() => asError(error))
    }
  }
}

/** `null` if one of them fails. */
function allOf(
  batches: readonly (readonly SqlQuery[])[],
  run: (query: SqlQuery) => SqlRows,
): readonly (readonly SqlRows[])[] | null {
  try {
    return batches.map((batch) => batch.map(run))
  } catch {
    return null
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
