/** Creates a database for a test file on the server that `postgres-setup.ts` started. */
import { inject } from 'vitest'
import { createDatabaseOn, type TestDatabase } from './postgres-setup.ts'

export type { TestDatabase } from './postgres-setup.ts'

/** Copies the migrated template, unless `kind` is `empty`. */
export function createDatabase(kind?: 'migrated' | 'empty'): Promise<TestDatabase> {
  return createDatabaseOn(inject('postgresUrl'), kind)
}
