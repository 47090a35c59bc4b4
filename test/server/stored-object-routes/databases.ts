/** New databases that several gateways can share. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type TestDatabase } from '../../support/postgres.ts'

export const DATABASES: readonly (readonly [string, () => Promise<TestDatabase>])[] = [
  ['a SQLite file', sqliteFile],
  ['Postgres', () => createDatabase('empty')],
]

export async function sqliteFile(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-shared-'))
  const drop = async () => rmSync(folder, { recursive: true })
  return { url: `sqlite:${folder}/turns.db`, drop }
}

/** The demo model without its delay. */
export const DEMO = {
  UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":0}}]',
}
