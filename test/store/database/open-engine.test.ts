import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate, readMigrations, type SqlMigration } from '../../../src/store/database/migrate.ts'
import { openEngine, openTurnStore } from '../../../src/store/database/open-engine.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { createDatabase } from '../../support/postgres.ts'
import { newTurn } from '../turns.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstory-open-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('openEngine creates a SQLite file with its folders, and can open it again', async () => {
  const turn = newTurn()
  for (const url of [`sqlite:${folder}/a/b/turns.db`, `sqlite://${folder}/a/b/turns.db`]) {
    const store = await openTurnStore(url)
    await store.openTurn(turn)
    expect(await store.loadChain(turn, turn.id)).toHaveLength(1)
    await store.close()
  }
})

test('a SQLite database in memory is empty when it is opened', async () => {
  const turn = newTurn()
  const store = await openTurnStore('sqlite::memory:')
  await store.openTurn(turn)
  await store.close()
  const another = await openTurnStore('sqlite::memory:')
  expect(await another.loadChain(turn, turn.id)).toBeNull()
  await another.close()
})

test('an empty Postgres database gets all tables when it is opened', async () => {
  const { url, drop } = await createDatabase('empty')
  const store = await openTurnStore(url.replace('postgres:', 'postgresql:'))
  await store.ping()
  await store.close()
  await drop()
})

test.each([
  ['', 'does not start with a scheme'],
  ['./data/turns.db', 'does not start with a scheme'],
  ['mysql://root:secret@host/db', 'starts with `mysql:`'],
  ['sqlite:', 'names no file'],
  ['sqlite://turns.db', 'names no file'],
  ['postgres://user:secret@:x:y/db', 'is not a URL that can be read'],
])(
  'the database URL %j is rejected with the reason and without the password',
  async (url, fault) => {
    const error: unknown = await openTurnStore(url).catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({
      message: expect.stringContaining(`DATABASE_URL ${fault}`) as string,
    })
    expect(error).toMatchObject({ message: expect.stringContaining('sqlite:./data') as string })
    expect(String(error)).not.toContain('secret')
  },
)

test('if a database cannot be opened, the error contains the reason', async () => {
  const file = join(folder, 'not-a-database')
  writeFileSync(file, 'x'.repeat(5_000))
  for (const [url, why] of [
    [`sqlite:${file}`, 'not a database'],
    [`sqlite:${folder}`, 'unable to open'],
    [`sqlite:${file}/turns.db`, 'EEXIST'],
    ['postgres://user:secret@127.0.0.1:1/db', 'ECONNREFUSED'],
  ] as const) {
    const error: unknown = await openTurnStore(url).catch((refusal: unknown) => refusal)
    expect(String(error)).toContain('The database of DATABASE_URL cannot be opened')
    expect(String(error)).toContain(why)
    expect(String(error)).not.toContain('secret')
  }
})

test.each([
  ['SQLite', async () => ({ url: `sqlite:${folder}/newer.db`, drop: async () => undefined })],
  ['Postgres', () => createDatabase('empty')],
])(
  'a process that is running on %s keeps serving when a newer version migrates, and cannot be started again',
  async (_, create) => {
    const { url, drop } = await create()
    const running = await openEngine(url)
    const newer: SqlMigration = { name: '9999_newer.sql', sql: 'create table newer (n integer);' }
    await migrate(running, [...readMigrations(), newer])
    const store = createTurnStore(running)
    const turn = newTurn()
    await store.openTurn(turn)
    expect(await store.loadChain(turn, turn.id)).toHaveLength(1)
    await expect(openEngine(url)).rejects.toThrow(
      /cannot be opened: The database has the schema 9999_newer\.sql of a newer version/,
    )
    await store.close()
    await drop()
  },
)
