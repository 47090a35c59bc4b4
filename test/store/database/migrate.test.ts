import { expect, test } from 'vitest'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { migrate, readMigrations, type SqlMigration } from '../../../src/store/database/migrate.ts'
import { LATEST_MIGRATION } from '../../../src/store/database/schema-version.ts'

async function rows(engine: Engine, sql: string): Promise<unknown> {
  const [found] = await engine.read([{ name: null, sql, parameters: [] }])
  return found
}

test('`migrate` applies each file once, however often it runs', async () => {
  const engine = await openNodeSqlite(':memory:')
  const first = {
    name: '1.sql',
    sql: '-- A comment; with a semicolon.\ncreate table a (n integer);\n',
  }
  const second = {
    name: '2.sql',
    sql: `insert into a values (1);\n\n-- Another.\ninsert into a\n  values (';');`,
  }
  await migrate(engine, [first])
  await migrate(engine, [first, second])
  await migrate(engine, [first, second])
  expect(await rows(engine, 'select name from migrations')).toMatchObject([
    { name: '1.sql' },
    { name: '2.sql' },
  ])
  expect(await rows(engine, 'select n from a')).toMatchObject([{ n: 1 }, { n: ';' }])
  await engine.close()
})

test('a migration file that fails leaves no changes, and `migrate` tries it again the next time', async () => {
  const engine = await openNodeSqlite(':memory:')
  const broken = { name: '1.sql', sql: 'create table a (n integer);\ninsert into b values (1);' }
  await expect(migrate(engine, [broken])).rejects.toThrow('no such table: b')
  expect(await rows(engine, 'select name from migrations')).toEqual([])
  await migrate(engine, [{ ...broken, sql: 'create table a (n integer);' }])
  expect(await rows(engine, 'select name from migrations')).toMatchObject([{ name: '1.sql' }])
  await engine.close()
})

test('a database that a newer version has migrated is rejected with both versions, and nothing is changed', async () => {
  const engine = await openNodeSqlite(':memory:')
  const [first, second, third] = ['1.sql', '2.sql', '3.sql'].map((name) => ({
    name,
    sql: `create table "${name}" (n integer);`,
  })) as [SqlMigration, SqlMigration, SqlMigration]
  await migrate(engine, [first, third])
  const older = migrate(engine, [first, second])
  await expect(older).rejects.toThrow(/schema 3\.sql of a newer version .* up to 2\.sql/)
  await expect(older).rejects.toThrow('restore a backup')
  expect(await rows(engine, 'select name from migrations')).toHaveLength(2)
  await engine.close()
})

test('the latest migration is named in the code, for Workers', () => {
  expect(readMigrations().at(-1)?.name).toBe(LATEST_MIGRATION)
})

test('the migrations of the repository are read in the order of their names', () => {
  const names = readMigrations().map(({ name }) => name)
  expect(names[0]).toBe('0001_turns.sql')
  expect(names).toEqual(names.toSorted())
})

test('the time of last use of a turn that was stored before that column existed is its start', async () => {
  const engine = await openNodeSqlite(':memory:')
  const all = readMigrations()
  await migrate(
    engine,
    all.filter(({ name }) => name < '0004'),
  )
  const run = (sql: string) => engine.write([{ name: null, sql, parameters: [] }])
  await run(`insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at, request)
    values ('T', 't', 'T', 'chat', 'w', 'a', 'm', 'complete', 77, '{}')`)
  await migrate(engine, all)
  expect(await run('select used_at, short_lived, fingerprint from turns')).toMatchObject([
    [{ used_at: 77, short_lived: 0, fingerprint: null }],
  ])
  await engine.close()
})
