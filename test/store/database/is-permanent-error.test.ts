import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { isPermanentDatabaseError } from '../../../src/store/database/is-permanent-error.ts'
import { ENGINES } from '../engines.ts'

function query(sql: string): SqlQuery {
  return { name: null, sql, parameters: [] }
}

describe.each(ENGINES)('errors of %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  test.each([
    'select 1 from missing_table',
    'select missing_column from turns',
    'insert into database_flags (name) values (null)',
    'selec 1',
  ])('the database rejects %s for good', async (sql) => {
    const error: unknown = await engine.write([query(sql)]).catch((thrown: unknown) => thrown)
    expect(isPermanentDatabaseError(error)).toBe(true)
  })
})

test.each([
  new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG'),
  Object.assign(new Error('zu gross'), { code: '54000' }),
])('an error that is permanent: $message', (error) => {
  expect(isPermanentDatabaseError(error)).toBe(true)
})

test.each([
  new Error('D1_ERROR: Network connection lost.'),
  new Error('D1 DB is overloaded. Too many requests queued.'),
  new Error('The database does not answer.'),
  Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  Object.assign(new Error('shutting down'), { code: '57P01' }),
  Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
])('an error that another try may overcome: $message', (error) => {
  expect(isPermanentDatabaseError(error)).toBe(false)
})
