/**
 * Brings a database up to date with the files of `migrations/`. It may run any number of times, and
 * in several processes at once: a file and the record of its name are one batch, and a name is
 * unique, so of two that try only one succeeds. (On Workers wrangler applies the same files.)
 */
import { readdirSync, readFileSync } from 'node:fs'
import { compileStatement, createQueryBuilder } from './compile-statement.ts'
import type { Engine, SqlQuery } from './engine-interface.ts'
import type { MigrationRow } from './table-row-types.ts'

export interface SqlMigration {
  readonly name: string
  readonly sql: string
}

export async function migrate(
  engine: Engine,
  migrations: readonly SqlMigration[] = readMigrations(),
): Promise<void> {
  // A failure may mean that another process was faster, once for each file; then look again.
  const attempts = migrations.length + 2
  for (let attempt = 1; ; attempt++) {
    try {
      await applyMissing(engine, migrations)
      return
    } catch (error) {
      if (attempt === attempts) throw error
    }
  }
}

/** In the order of their names. */
export function readMigrations(
  folder: URL = new URL('../../../migrations/', import.meta.url),
): readonly SqlMigration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }))
}

async function applyMissing(engine: Engine, migrations: readonly SqlMigration[]): Promise<void> {
  const db = createQueryBuilder(engine.language)
  const names = compileStatement<null>(null, () => db.selectFrom('migrations').select('name'))
  const record = compileStatement<string>(null, (slot) =>
    db.insertInto('migrations').values({ name: slot((name) => name) }),
  )
  await engine.write([once(RECORDS)])
  const [rows = []] = await engine.read([names(null)])
  const applied = new Set((rows as readonly MigrationRow[]).map(({ name }) => name))
  for (const { name, sql } of migrations) {
    if (applied.has(name)) continue
    await engine.write([record(name), ...statementsOf(sql).map(once)])
  }
}

const RECORDS = `create table if not exists migrations (
  name text not null primary key,
  applied_at text not null default current_timestamp
)`

function once(sql: string): SqlQuery {
  return { name: null, sql, parameters: [] }
}

/** A statement of ours ends with a semicolon at the end of a line. */
function statementsOf(sql: string): readonly string[] {
  return sql
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
