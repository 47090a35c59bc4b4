/**
 * Rejects a database that a newer version of the gateway has migrated. This version does not know what the newer
 * tables and columns mean, so it could neither read nor store reliably.
 */
import { sql } from 'kysely'
import { createStoreUnavailableError } from '../../core/errors/gateway-error.ts'
import { createStatementCompiler } from './compile-statement.ts'
import type { Engine } from './engine-interface.ts'

/** Name of the latest file of `migrations/`, which Workers cannot read. */
export const LATEST_MIGRATION = '0021_erasures.sql'

/** Throws if one of the applied migrations is later than `latest`, the latest that this version knows. */
export function rejectNewerSchema(applied: readonly string[], latest: string): void {
  const newest = applied.toSorted().at(-1) ?? ''
  if (newest <= latest) return
  throw createStoreUnavailableError(
    `The database has the schema ${newest} of a newer version of the gateway; this version knows schemas up to ${latest}. Start the newer version, or restore a backup from before its first start.`,
  )
}

/** Throws if a newer version has migrated a D1 database, whose migrations wrangler applies and records. */
export async function rejectNewerD1Schema(engine: Engine): Promise<void> {
  const compile = createStatementCompiler(engine.language)
  const selectLatest = compile<null>(null, () => sql`select max(name) as name from d1_migrations`)
  const found = await engine.read([selectLatest(null)]).catch(ignoreMissingTable)
  const [row] = (found[0] ?? []) as readonly { readonly name: string | null }[]
  rejectNewerSchema([row?.name ?? ''], LATEST_MIGRATION)
}

/** A database whose tables wrangler did not create has no record of migrations. */
function ignoreMissingTable(error: unknown): readonly [] {
  if (error instanceof Error && error.message.includes('no such table')) return []
  throw error
}
