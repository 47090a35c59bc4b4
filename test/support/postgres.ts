/** Creates a database for a test file on the server that `postgres-setup.ts` started. */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { TEMPLATE } from './postgres-setup.ts'

export interface TestDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

/** Copies the migrated template, unless `kind` is `empty`. */
export async function createDatabase(
  kind: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = kind === 'migrated' ? TEMPLATE : 'template1'
  await administer(`create database ${name} template ${template}`)
  return {
    url: inject('postgresUrl').replace('DATABASE', name),
    drop: () => administer(`drop database ${name} with (force)`),
  }
}

async function administer(sql: string): Promise<void> {
  const client = new Client({
    connectionString: inject('postgresUrl').replace('DATABASE', 'postgres'),
  })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
