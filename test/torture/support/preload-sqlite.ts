/**
 * Preloaded into a gateway: watches and disturbs the connection that writes to SQLite.
 *
 * - `TORTURE_SYNCED_FILE` gets the end of the last commit that waited for the disk. After a power cut, anything
 *   behind that end may be missing.
 * - `TORTURE_FAULT_FILE` names the fault for the next commits: `full`, `read-only` or `slow`; empty for none.
 *   SQLite itself produces the errors.
 */
import { openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const { TORTURE_SYNCED_FILE: syncedFile, TORTURE_FAULT_FILE: faultFile } = process.env

const prepare: (sql: string) => StatementSync = DatabaseSync.prototype.prepare
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
  const statement = prepare.call(this, sql)
  if (sql === 'begin immediate' && faultFile !== undefined) {
    runBefore(statement, () => applyFault(this, readFileSync(faultFile, 'utf8')))
  }
  if (sql === 'commit' && syncedFile !== undefined) {
    const record = createSyncRecorder(this, syncedFile)
    const run = statement.run.bind(statement)
    statement.run = () => {
      const result = run()
      record()
      return result
    }
  }
  return statement
}

function runBefore(statement: StatementSync, work: () => void): void {
  const run = statement.run.bind(statement)
  statement.run = () => {
    work()
    return run()
  }
}

const UNLIMITED_PAGES = 4_294_967_294

const SLOW_COMMIT_MS = 10
/** An array for `Atomics.wait`, which is a synchronous sleep here, because no thread notifies it. */
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4))

function applyFault(database: DatabaseSync, fault: string): void {
  if (fault === 'slow') Atomics.wait(NEVER_NOTIFIED, 0, 0, SLOW_COMMIT_MS)
  const pages = fault === 'full' ? readNumber(database, 'page_count') : UNLIMITED_PAGES
  database.exec(`pragma max_page_count = ${pages}`)
  database.exec(`pragma query_only = ${fault === 'read-only' ? 'on' : 'off'}`)
}

function readNumber(database: DatabaseSync, pragma: string): number {
  return Object.values(prepare.call(database, `pragma ${pragma}`).get() ?? {})[0] as number
}

/** SQLite's value of `pragma synchronous` for a commit that waits for the disk. */
const FULL = 2

/** Records the header of the WAL index (48 bytes), which has the number of frames and the salt of the WAL. */
function createSyncRecorder(database: DatabaseSync, file: string): () => void {
  const header = Buffer.alloc(48)
  let files: { readonly index: number; readonly record: number } | null = null
  return () => {
    if (readNumber(database, 'synchronous') < FULL) return
    // SQLite creates the index with the first commit.
    files ??= { index: openSync(`${database.location()}-shm`, 'r'), record: openSync(file, 'w') }
    readSync(files.index, header, 0, header.length, 0)
    writeSync(files.record, header, 0, header.length, 0)
  }
}
