import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { resolvePageStart } from '../../../src/store/database/resolve-page-start.ts'
import { openPostgres } from '../../../src/store/database/postgres-engine.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
let engine: Engine
beforeAll(async () => {
  database = await createDatabase('empty')
  engine = openPostgres(database.url)
})
afterAll(async () => {
  await engine.close()
  await database.drop()
})

test.each(['C', 'en-x-icu'])(
  'the first page of a list begins before or after every id in the collation %s of Postgres',
  async (collation) => {
    for (const id of ['01J0000000000000000000AAAA', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'fact_7ZZ']) {
      const sql = `select $1::text collate "${collation}" < $2 and $1 > $3 as is_between`
      const parameters = [id, resolvePageStart(null, 'desc'), resolvePageStart(null, 'asc')]
      const [rows] = await engine.read([{ name: null, sql, parameters }])
      expect(rows).toEqual([{ is_between: true }])
    }
  },
)

test('a later page of a list begins after the given id', () => {
  expect(resolvePageStart('01J0000000000000000000AAAA', 'desc')).toBe('01J0000000000000000000AAAA')
})
