/**
 * Tests the moment at which a new turn and a deletion cannot see each other on Postgres. An open
 * transaction prolongs it.
 */
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPostgres } from '../../../src/store/database/postgres-engine.ts'
import type { Engine, SqlRows } from '../../../src/store/database/engine-interface.ts'
import { getDeletionLocks } from '../../../src/store/deletion/deletion-locks.ts'
import { createExpiryAndDeletionStore } from '../../../src/store/deletion/sql-expiry-and-deletion-store.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres.ts'
import { newTurn, user } from '../turns.ts'

let database: TestDatabase
let engine: Engine
let client: Client
beforeEach(async () => {
  database = await createDatabase()
  engine = openPostgres(database.url)
  client = new Client({ connectionString: database.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await engine.close()
  await database.drop()
})

const NOW = 1_795_000_000_000
const alice = { tenant: 't', user: 'alice' }

test('a turn that is not yet committed when its user is deleted is deleted too', async () => {
  const writeGate = gate()
  const release = gate()
  const slow: Engine = {
    ...engine,
    async write(queries) {
      await client.query('begin')
      const results: SqlRows[] = []
      for (const { sql, parameters } of queries) {
        results.push((await client.query<object>(sql, [...parameters])).rows)
      }
      writeGate.open()
      await release.opened
      await client.query('commit')
      return results
    },
  }
  const turn = newTurn({ ...alice, createdAtMs: NOW - 1, input: [user('A?')] })
  const opening = createTurnStore(slow).openTurn(turn)
  await writeGate.opened

  const forgetting = createExpiryAndDeletionStore(engine).deleteUser(alice.tenant, alice.user, NOW)
  await Promise.race([forgetting, somebodyWaits()])
  release.open()
  expect(await forgetting).toBe(1)
  await opening
  expect(await count('turns')).toBe(0)
})

test('a new turn does not wait for the end of a long deletion', async () => {
  await client.query('begin')
  const locks = getDeletionLocks('postgres').deletion(alice.tenant)
  for (const { sql, parameters } of locks) await client.query<object>(sql, [...parameters])
  expect(locks).toHaveLength(1)
  await createTurnStore(engine).openTurn(newTurn({ ...alice, input: [user('A?')] }))
  expect(await count('turns')).toBe(1)
  await client.query('rollback')
})

async function count(table: string): Promise<number> {
  const sql = `select count(*) as n from ${table}`
  const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
  return (row as { readonly n: number }).n
}

async function somebodyWaits(): Promise<void> {
  const sql = `select count(*) as n from pg_locks where not granted and locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`
  for (let look = 0; look < 500; look += 1) {
    const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
    if ((row as { readonly n: number }).n > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('Nobody waits.')
}

function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}
