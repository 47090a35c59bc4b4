/**
 * Applies the files of `migrations/` that were not applied to a database yet. Several processes may
 * do so at once: the statements of a file and the record of its name are one transaction, and
 * recorded names are unique, so only one process succeeds. (On Workers, wrangler applies the same
 * files.) A running process does not notice that a newer version migrates its database, and keeps serving.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createStatementCompiler } from './compile-statement.ts'
import type { Engine, SqlQuery } from './engine-interface.ts'
import { rejectNewerSchema } from './schema-version.ts'

export interface SqlMigration {
  readonly name: string
  readonly sql: string
}

export async function migrate(
  engine: Engine,
  migrations: readonly SqlMigration[] = readMigrations(),
): Promise<void> {
  // If another process applies a file at the same time, applying it fails here, at most once per
  // file. The next attempt then skips the file.
  const attempts = migrations.length + 2
  for (let attempt = 1; ; attempt++) {
    try {
      await applyMissingMigrations(engine, migrations)
      return
    } catch (error) {
      if (attempt === attempts || error instanceof GatewayError) throw error
    }
  }
}

/** Reads the migrations in the order of their names. */
export function readMigrations(
  folder: URL = new URL('../../../migrations/', import.meta.url),
): readonly SqlMigration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }))
}

async function applyMissingMigrations(
  engine: Engine,
  migrations: readonly SqlMigration[],
): Promise<void> {
  const compile = createStatementCompiler(engine.language)
  const selectNames = compile<null>(null, () => sql`select name from migrations`)
  const record = compile<{ readonly name: string }>(
    null,
    (slot) => sql`insert into migrations (name) values (${slot('name')})`,
  )
  await engine.write([once(CREATE_MIGRATIONS_TABLE)])
  const [rows = []] = await engine.read([selectNames(null)])
  const applied = new Set((rows as readonly Pick<SqlMigration, 'name'>[]).map(({ name }) => name))
  rejectNewerSchema([...applied], migrations.at(-1)?.name ?? '')
  for (const { name, sql: text } of migrations) {
    if (applied.has(name)) continue
    const queries = [record({ name }), ...splitStatements(text).map(once)]
    await engine.write(queries.map((query) => ({ ...query, mayTakeLong: true })))
  }
}

const CREATE_MIGRATIONS_TABLE = `create table if not exists migrations (
  name text not null primary key,
  applied_at text not null default current_timestamp
)`

function once(text: string): SqlQuery {
  return { name: null, sql: text, parameters: [] }
}

/**
 * Splits a migration file into statements. Each statement ends with a semicolon at the end of a
 * line.
 */
function splitStatements(text: string): readonly string[] {
  return text
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
