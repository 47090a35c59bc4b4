/**
 * Rejects a database that a newer version of the gateway has migrated, and a D1 database that lacks migrations. This
 * version does not know what the newer tables and columns mean, so it could neither read nor store reliably.
 */
import { sql } from 'kysely'
import { createStoreUnavailableError } from '../../core/errors/gateway-error.ts'
import { createStatementCompiler } from './compile-statement.ts'
import type { Engine, SqlQuery, SqlRows } from './engine-interface.ts'

/** Name of the latest file of `migrations/`, which Workers cannot read. */
export const LATEST_MIGRATION = '0022_answer_messages.sql'

/** Throws if one of the applied migrations is later than `latest`, the latest that this version knows. */
export function rejectNewerSchema(applied: readonly string[], latest: string): void {
  const newest = applied.toSorted().at(-1) ?? ''
  if (newest <= latest) return
  throw createStoreUnavailableError(
    `The database has the schema ${newest} of a newer version of the gateway; this version knows schemas up to ${latest}. Start the newer version, or restore a backup from before its first start.`,
  )
}

/**
 * Throws if migrations of a D1 database are missing, or if a newer version has migrated it. Wrangler applies and
 * records its migrations.
 */
export async function rejectOtherD1Schema(engine: Engine): Promise<void> {
  const compile = createStatementCompiler(engine.language)
  const selectLatest = compile<null>(null, () => sql`select max(name) as name from d1_migrations`)
  const selectFirstTurn = compile<null>(null, () => sql`select 1 from turns limit 1`)
  // A database whose tables wrangler did not create has no record of migrations.
  const found = await readIfTableExists(engine, selectLatest(null))
  if (found === null && (await readIfTableExists(engine, selectFirstTurn(null))) !== null) return
  const [row] = (found ?? []) as readonly { readonly name: string | null }[]
  const newest = row?.name ?? ''
  rejectNewerSchema([newest], LATEST_MIGRATION)
  if (newest !== LATEST_MIGRATION)
    throw createStoreUnavailableError(
      `The database lacks the schema ${LATEST_MIGRATION} of this version${newest === '' ? '' : `; it has ${newest}`}. Apply the migrations: npx wrangler d1 migrations apply backstory --remote`,
    )
}

/** Returns the rows of a query; null if its table does not exist. */
async function readIfTableExists(engine: Engine, query: SqlQuery): Promise<SqlRows | null> {
  try {
    return (await engine.read([query]))[0] ?? []
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such table')) return null
    throw error
  }
}
