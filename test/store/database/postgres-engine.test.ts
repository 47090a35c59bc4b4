import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPostgres } from '../../../src/store/database/postgres-engine.ts'
import type { Engine, SqlQuery, SqlValue } from '../../../src/store/database/engine-interface.ts'
import { migrate, readMigrations } from '../../../src/store/database/migrate.ts'
import { createTurnStatements } from '../../../src/store/turns/turn-statements.ts'
import { openTurnStore } from '../../../src/store/database/open-engine.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres.ts'
import { newTurn } from '../turns.ts'

let database: TestDatabase
let engine: Engine
beforeEach(async () => {
  database = await createDatabase()
  engine = openPostgres(database.url)
})
afterEach(async () => {
  await engine.close()
  await database.drop()
})

const once = (sql: string, ...parameters: SqlValue[]): SqlQuery => ({ name: null, sql, parameters })

test('the Postgres engine returns 64-bit integers as numbers', async () => {
  const [rows] = await engine.read([
    once('select 1795000000123::bigint as time, count(*) from turns'),
  ])
  expect(rows).toEqual([{ time: 1_795_000_000_123, count: 0 }])
})

test('the Postgres engine throws the error of the statement that failed, and the connection stays usable', async () => {
  const name = { name: 'same', sql: 'insert into migrations (name) values ($1)' }
  const query = (value: string): SqlQuery => ({ ...name, parameters: [value] })
  for (let round = 0; round < 15; round++) {
    await expect(engine.write([once('select 1/0'), query('x'), query('y')])).rejects.toThrow(
      'division by zero',
    )
  }
  await engine.write([query('x'), query('y')])
  const [rows] = await engine.read([once(`select name from migrations where name in ('x', 'y')`)])
  expect(rows).toHaveLength(2)
})

test('the Postgres engine connects again after the server has dropped every connection', async () => {
  await Promise.all(Array.from({ length: 5 }, () => engine.read([once('select pg_sleep(0.05)')])))
  const sleeping = engine.read([once('select pg_sleep(10)')])
  const refused = expect(sleeping).rejects.toThrow()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const other = openPostgres(database.url)
  await other.read([
    once(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    ),
  ])
  await other.close()
  await refused
  await new Promise((resolve) => setTimeout(resolve, 50))
  await expect(engine.read([once('select 1 as one')])).resolves.toEqual([[{ one: 1 }]])
})

test('a migration may take longer than the time limit of other queries on Postgres', async () => {
  const hasty = openPostgres(database.url, 300)
  const slow = { name: 'slow.sql', sql: 'create table slow (n integer);\nselect pg_sleep(0.6);' }
  const latest = readMigrations()
  await migrate(hasty, [...latest, { ...slow, name: `9999_${slow.name}` }])
  await expect(hasty.write([once('select pg_sleep(0.6)')])).rejects.toThrow('timeout')
  const [rows] = await engine.read([once("select name from migrations where name like '9999%'")])
  expect(rows).toHaveLength(1)
  await hasty.close()
})

test('Postgres looks up the turns of a chain by id, even if its statistics are missing or show an empty table', async () => {
  const { chainTurns, chainItems } = createTurnStatements('postgres')
  const expectIds = async (): Promise<void> => {
    for (const { sql, parameters } of [chainTurns, chainItems].map((by) =>
      by({ id: '7', tenant: 't', user: '' }),
    )) {
      const [plan] = await engine.read([once(`explain ${sql}`, ...parameters)])
      // Deletions in progress are looked up by tenant and name.
      const steps = JSON.stringify(plan).replaceAll(/Index Cond: \(\(tenant = [^"]*kind = /g, '')
      expect(steps).not.toContain('Seq Scan')
      const conditions = [...steps.matchAll(/Index Cond: \((.*?)[ =]/g)].map(([, column]) => column)
      // `turn_id` and `media_id`: the size of an unfinished turn is computed from its items.
      expect(conditions.length).toBeGreaterThan(2)
      expect(conditions.filter((column) => !/(^|\.|_)id$/.test(column ?? ''))).toEqual([])
    }
  }
  await expectIds()
  await engine.write([
    once(`insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at, request)
      select n, 't', n, 'd', 'w', 'a', 'm', 'open', n, '{}' from generate_series(1, 3000) n`),
    once(`insert into items (turn_id, tenant, side, position, type, body)
      select n, 't', 'out', p, 'message', repeat('x', 300)
      from generate_series(1, 3000) n, generate_series(1, 4) p`),
  ])
  await expectIds()
})

test('several engines can create the tables of an empty Postgres database at the same time', async () => {
  const empty = await createDatabase('empty')
  const stores = await Promise.all(Array.from({ length: 6 }, () => openTurnStore(empty.url)))
  const turn = newTurn()
  await stores[0]?.openTurn(turn)
  expect(await stores[5]?.loadChain(turn, turn.id)).toHaveLength(1)
  await Promise.all(stores.map((store) => store.close()))
  await empty.drop()
})
