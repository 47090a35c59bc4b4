import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteConnection } from '../../../src/store/database/node-sqlite-connection.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { openTurnStore } from '../../../src/store/database/open-engine.ts'
import type { TurnStore } from '../../../src/store/turns/turn-store-interface.ts'
import { assistant, serializeItems, newId, newTurn, OWNER, user } from '../turns.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstory-sqlite-'))
  path = join(folder, 'turns.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const one = (sql: string): SqlQuery => ({ name: null, sql, parameters: [] })

/** Starts `append-turns.ts` on the file. `lines` grows with its output. */
function appending(count: number): { child: ChildProcess; lines: () => readonly string[] } {
  const program = new URL('../append-turns.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, `sqlite:${path}`, `${count}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, lines: () => text.split('\n').slice(0, -1) }
}

async function expectKept(store: TurnStore, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const [promise, id = ''] = line.split(' ')
    const [turn] = (await store.loadChain(OWNER, id)) ?? []
    expect(serializeItems(turn?.input ?? [])).toEqual(serializeItems([user(`asked in ${id}`)]))
    if (promise === 'opened') continue
    expect(turn?.state).toBe('complete')
    expect(serializeItems(turn?.output ?? [])).toEqual(
      serializeItems([assistant('one'), assistant('two')]),
    )
  }
}

test('a confirmed SQLite write is stored, even if `kill -9` ends the process at any moment', async () => {
  const promised: string[] = []
  for (const enough of [1, 40, 150]) {
    const { child, lines } = appending(1_000_000)
    while (lines().length < enough) await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    promised.push(...lines())
  }
  const store = await openTurnStore(`sqlite:${path}`)
  await expectKept(store, promised)
  await store.close()
  expect(promised.length).toBeGreaterThan(190)
})

test('several processes can create a SQLite file and write to it at the same time', async () => {
  const writers = [appending(60), appending(60), appending(60)]
  const codes = await Promise.all(writers.map(({ child }) => once(child, 'close')))
  expect(codes.map(([code]) => code as number)).toEqual([0, 0, 0])
  const store = await openTurnStore(`sqlite:${path}`)
  for (const { lines } of writers) {
    expect(lines()).toHaveLength(120)
    await expectKept(store, lines())
  }
  await store.close()
})

test('an engine reads a SQLite write of another engine as soon as it is confirmed', async () => {
  const [one, other] = [
    await openTurnStore(`sqlite:${path}`),
    await openTurnStore(`sqlite:${path}`),
  ]
  for (let round = 0; round < 20; round++) {
    const turn = newTurn()
    await one.openTurn(turn)
    expect(await other.loadChain(turn, turn.id)).toHaveLength(1)
  }
  await Promise.all([one.close(), other.close()])
})

test('SQLite writes that are pending when the engine is closed are committed', async () => {
  const store = await openTurnStore(`sqlite:${path}`)
  const turns = Array.from({ length: 300 }, () => newTurn({ id: newId() }))
  const writing = Promise.all(turns.map((turn) => store.openTurn(turn)))
  await store.close()
  await writing
  const again = await openTurnStore(`sqlite:${path}`)
  for (const { tenant, id } of turns)
    expect(await again.loadChain({ tenant, user: null }, id)).toHaveLength(1)
  await again.close()
})

test('SQLite writes with `survives: whenever` are committed soon, in order, and before the file is closed', async () => {
  const engine = await openNodeSqlite(path)
  await engine.write([one('create table said (word text)')])
  const say = (word: string) => [one(`insert into said values ('${word}')`)]
  await engine.write(say('alone'), 'whenever')
  const early = engine.write(say('early'), 'whenever')
  await engine.write(say('behind'), 'kill')
  await early
  const [said = []] = await engine.read([one('select word from said order by rowid')])
  expect(said.map((row) => (row as { readonly word: string }).word)).toEqual([
    'alone',
    'early',
    'behind',
  ])
  const last = engine.write(say('last'), 'whenever')
  await engine.close()
  await last
  const file = new DatabaseSync(path)
  expect(file.prepare('select count(*) as words from said').get()).toMatchObject({ words: 4 })
  file.close()
})

test('a closed SQLite engine rejects writes, and has deleted the write-ahead log', async () => {
  const engine = await openNodeSqlite(path)
  await engine.write([one('create table t (n integer)')])
  await engine.close()
  await expect(engine.write([one('insert into t values (1)')])).rejects.toThrow(/closed/)
  expect(readdirSync(folder)).toEqual(['turns.db'])
})

test('a SQLite write waits until another process unlocks the file, instead of failing', async () => {
  const engine = await openNodeSqlite(path)
  await engine.write([one('create table t (n integer)')])
  const somebody = new DatabaseSync(path)
  somebody.exec('begin immediate')
  const writing = engine.write([one('insert into t values (1)')])
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(await engine.read([one('select n from t')])).toEqual([[]])
  somebody.exec('rollback')
  somebody.close()
  await writing
  expect(await engine.read([one('select n from t')])).toEqual([[{ n: 1 }]])
  await engine.close()
})

test('a SQLite write is on the disk when it is confirmed', async () => {
  const engine = await openNodeSqlite(path)
  await engine.write([one('create table settings as select * from pragma_synchronous')])
  const [rows] = await engine.read([one('select synchronous from settings')])
  expect(rows).toEqual([{ synchronous: 2 }])
  expect(await engine.read([one('pragma journal_mode')])).toEqual([[{ journal_mode: 'wal' }]])
  await engine.close()
})

test('a failed SQLite batch writes nothing, and the other batches of its transaction are written once', () => {
  const database = openSqliteConnection(path, 'write')
  const insert = (n: number): SqlQuery => one(`insert into t values (${n})`)
  database.commit([[one('create table t (n integer primary key)')]])
  const results = database.commit([[insert(1)], [insert(2), insert(1)], [insert(3)]])
  expect(results.map((result) => result instanceof Error)).toEqual([false, true, false])
  expect(String(results[1])).toContain('UNIQUE')
  expect(database.commit([[insert(4), insert(3)]]).map(String)).toEqual([
    expect.stringContaining('UNIQUE'),
  ])
  expect(database.read(one('select n from t order by n'))).toEqual([{ n: 1 }, { n: 3 }])
  database.close()
})

test('on a full disk only SQLite batches that are too large fail, and confirmed batches are stored', () => {
  const database = openSqliteConnection(path, 'write')
  const insert = (bytes: number): SqlQuery => one(`insert into t values (zeroblob(${bytes}))`)
  expect(database.commit([[one('create table t (b blob)')]])).toEqual([[[]]])
  database.read(one('pragma max_page_count = 60'))
  for (let round = 0; round < 10; round++) {
    const results = database.commit([[insert(10)], [insert(10), insert(1_000_000)], [insert(10)]])
    const promised = results.filter((result) => !(result instanceof Error)).length
    expect(String(results[1])).toContain('full')
    const [row] = database.read(one('select count(*) as count from t'))
    expect(row).toEqual({ count: promised })
    expect(database.commit([[one('delete from t')]])).toEqual([[[]]])
  }
  database.close()
})
