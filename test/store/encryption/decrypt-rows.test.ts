/** Tests that an unreadable row does not affect other rows, in every store. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { itemId } from '../../../src/core/turn-derived-ids.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { createStorageCipher, type StorageKey } from '../../../src/store/encryption/cipher.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import { assistant, createEnding, newTurn, nextTurn, OWNER, numberItems, user } from '../turns.ts'

const OLD: StorageKey = { kid: 'old', key: new Uint8Array(32).fill(1) }
const NEW: StorageKey = { kid: 'new', key: new Uint8Array(32).fill(2) }

let engine: Engine
let counts: number[]
beforeEach(async () => {
  engine = await openEngine('sqlite::memory:')
  counts = []
})
afterEach(() => engine.close())

function storesWith(...keys: readonly StorageKey[]): Stores {
  return createStores(engine, {
    cipher: createStorageCipher(keys),
    onUnreadable: (count) => counts.push(count),
  })
}

const first = newTurn({ dialect: 'chat', request: { seed: 1 }, input: [user('one')] })
const second = nextTurn(first, {
  depth: 1,
  dialect: 'chat',
  request: { seed: 2 },
  input: [user('two')],
})
const failure = { status: 500, type: 'server_error', code: null, message: 'two?', param: null }

async function storeTurn(stores: Stores, turn: typeof first, words: string): Promise<void> {
  await stores.store.openTurn(turn)
  const items = numberItems([assistant(words), assistant(`${words}!`)])
  await stores.store.closeTurn(
    createEnding(turn, { items, contentHash: turn.id, failure: turn === second ? failure : null }),
  )
}

async function damage(sql: string): Promise<void> {
  await engine.write([{ name: null, sql, parameters: [] }])
}

const keysOf = (...turnIds: readonly string[]) => ({
  ...OWNER,
  turnIds,
  callIds: [],
  fingerprints: [],
})

describe('reading of texts whose key is missing', () => {
  beforeEach(async () => {
    await storeTurn(storesWith(OLD), first, 'a')
    await storeTurn(storesWith(NEW, OLD), second, 'b')
    counts = []
  })

  test('loadChain leaves out texts whose key is missing, and returns all other texts (C9, C109)', async () => {
    const { store } = storesWith(NEW)
    const [old, recent] = (await store.loadChain(OWNER, second.id)) ?? []
    expect(old).toMatchObject({ id: first.id, request: {}, input: [], output: [] })
    expect(recent).toMatchObject({ request: { seed: 2 }, input: [user('two')], failure })
    expect(recent?.output).toHaveLength(2)
    expect(counts).toEqual([4])
  })

  test('findTurns, findItems and listTurns leave out texts whose key is missing', async () => {
    const { recall, archive } = storesWith(NEW)
    const found = (await recall.findTurns(keysOf(first.id, second.id))).turns
    expect(found.map(({ id }) => id)).toEqual([second.id])
    const wanted = [first, second].map(({ id }) => itemId('message', id, 0))
    expect([...(await archive.findItems(OWNER, wanted)).keys()]).toEqual([wanted[1]])
    const page = {
      ...OWNER,
      model: null,
      metadata: {},
      after: null,
      limit: 9,
      order: 'asc' as const,
    }
    const listed = await archive.listTurns(page)
    const lengths = new Map(listed.map(({ id, output }) => [id, output.length]))
    expect([lengths.get(first.id), lengths.get(second.id)]).toEqual([0, 2])
    expect(counts).toEqual([3, 1, 3])
  })

  test('without any key, loadChain and loadTurn leave out all encrypted texts', async () => {
    const { store, archive } = storesWith()
    expect(await store.loadChain(OWNER, second.id)).toMatchObject([
      { input: [], output: [] },
      { request: {}, input: [], output: [], failure: null },
    ])
    expect(await archive.loadTurn(OWNER, second.id)).toMatchObject({ id: second.id, output: [] })
  })

  test('a text whose key was missing can be read when the key is back', async () => {
    const { recall } = storesWith(NEW, OLD)
    await storesWith(NEW).recall.findTurns(keysOf(first.id))
    const [found] = (await recall.findTurns(keysOf(first.id))).turns
    expect(found?.output).toHaveLength(2)
  })
})

test('loadChain and findTurns leave out a damaged item, and return the other items of the turn (C18)', async () => {
  const stores = storesWith()
  await storeTurn(stores, first, 'a')
  await damage(`update items set body = '{"type":' where side = 'out' and position = 0`)
  await damage(`update turns set request = 'x', usage = '{', digests = '{', metadata = '['`)
  const [turn] = (await stores.store.loadChain(OWNER, first.id)) ?? []
  expect(turn).toMatchObject({ request: {}, usage: null, metadata: null, digests: {} })
  expect(turn?.output).toMatchObject([assistant('a!')])
  const [found] = (await stores.recall.findTurns(keysOf(first.id))).turns
  expect(found?.output).toMatchObject([assistant('a!')])
})

test('an encrypted item that was moved to another row is left out', async () => {
  const stores = storesWith(NEW)
  await storeTurn(stores, first, 'a')
  await damage(
    `update items set body = (select body from items where position = 1) where side = 'out'`,
  )
  const [turn] = (await stores.store.loadChain(OWNER, first.id)) ?? []
  expect(turn?.output).toMatchObject([assistant('a!')])
  expect(counts).toEqual([1])
})

test('readLog returns unreadable events as an empty text, and the other events with their numbers', async () => {
  const group = (first: number) => ({ first, last: first, text: `data: ${first}\n\n` })
  const turn = newTurn({ background: true, replicaId: 'R1' })
  const hold = { ...OWNER, turnId: turn.id, replicaId: 'R1' }
  await storesWith(OLD).runs.openRun(turn, group(0))
  await storesWith(NEW).runs.recordRun(hold, group(1), [])
  const read = async (stores: Stores) => (await stores.runs.readLog(OWNER, turn.id, 0))?.groups
  expect(await read(storesWith(NEW, OLD))).toEqual([group(0), group(1)])
  expect(await read(storesWith(NEW))).toEqual([{ ...group(0), text: '' }, group(1)])
  expect(counts).toEqual([1])
})
