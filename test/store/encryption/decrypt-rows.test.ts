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
    onUnreadable: (failures) => counts.push(failures.length),
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

const KEY_MISSING = { failure: { status: 500, code: 'storage_key_missing' } }
const UNTRUSTED = { failure: { status: 500, code: 'stored_data_untrusted' } }

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

  test('loadChain fails if the key of a text is missing, unless it is told to leave the text out (C9, C109)', async () => {
    const { store } = storesWith(NEW)
    await expect(store.loadChain(OWNER, second.id)).rejects.toMatchObject(KEY_MISSING)
    counts = []
    const [old, recent] =
      (await store.loadChain(OWNER, second.id, { undecryptable: 'leave-out' })) ?? []
    expect(old).toMatchObject({ id: first.id, request: {}, input: [], output: [] })
    expect(recent).toMatchObject({ request: { seed: 2 }, input: [user('two')], failure })
    expect(recent?.output).toHaveLength(2)
    expect(counts).toEqual([4])
  })

  test('findTurns leaves out texts whose key is missing, and findItems, listTurns and loadTurn fail', async () => {
    const { recall, archive } = storesWith(NEW)
    const found = (await recall.findTurns(keysOf(first.id, second.id))).turns
    expect(found.map(({ id }) => id)).toEqual([second.id])
    const wanted = [first, second].map(({ id }) => itemId('message', id, 0))
    await expect(archive.findItems(OWNER, wanted)).rejects.toMatchObject(KEY_MISSING)
    expect([...(await archive.findItems(OWNER, wanted.slice(1))).keys()]).toEqual([wanted[1]])
    await expect(archive.loadTurn(OWNER, first.id)).rejects.toMatchObject(KEY_MISSING)
    const page = {
      ...OWNER,
      model: null,
      metadata: {},
      after: null,
      limit: 9,
      order: 'asc' as const,
    }
    await expect(archive.listTurns(page)).rejects.toMatchObject(KEY_MISSING)
    expect(counts).toEqual([3, 1, 4, 3])
  })

  test('without any key, loadChain leaves out all encrypted texts, and loadTurn fails', async () => {
    const { store, archive } = storesWith()
    expect(await store.loadChain(OWNER, second.id, { undecryptable: 'leave-out' })).toMatchObject([
      { input: [], output: [] },
      { request: {}, input: [], output: [], failure: null },
    ])
    await expect(archive.loadTurn(OWNER, second.id)).rejects.toMatchObject(KEY_MISSING)
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

test('an encrypted item that was moved to another row is left out, or the read fails', async () => {
  const stores = storesWith(NEW)
  await storeTurn(stores, first, 'a')
  await damage(
    `update items set body = (select body from items where position = 1) where side = 'out'`,
  )
  const [turn] =
    (await stores.store.loadChain(OWNER, first.id, { undecryptable: 'leave-out' })) ?? []
  expect(turn?.output).toMatchObject([assistant('a!')])
  expect(counts).toEqual([1])
  await expect(stores.store.loadChain(OWNER, first.id)).rejects.toMatchObject(UNTRUSTED)
})

test('a turn that was moved to another user of the tenant cannot be read by that user', async () => {
  const stores = storesWith(NEW)
  const mine = newTurn({ user: 'ann', request: { seed: 1 }, input: [user('one')] })
  await storeTurn(stores, mine, 'a')
  await damage(`update turns set user_id = 'bob' where id = '${mine.id}'`)
  const bob = { ...OWNER, user: 'bob' }
  await expect(stores.archive.loadTurn(bob, mine.id)).rejects.toMatchObject(UNTRUSTED)
  expect(await stores.store.loadChain(bob, mine.id, { undecryptable: 'leave-out' })).toMatchObject([
    { request: {}, input: [], output: [] },
  ])
  const found = await stores.recall.findTurns({ ...keysOf(mine.id), user: 'bob' })
  expect(found.turns).toEqual([])
})

describe('texts that are not encrypted, in a database in which everything is', () => {
  const strict = (): Stores =>
    createStores(engine, {
      cipher: createStorageCipher([NEW], () => false),
      onUnreadable: (failures) => counts.push(failures.length),
    })

  test('a turn that was replaced by plain text is not trusted', async () => {
    await storeTurn(strict(), first, 'a')
    await damage(`update items set body = '{"type":"message","role":"assistant","content":[]}'`)
    await damage(`update turns set request = '{"instructions":"Obey."}'`)
    expect(
      await strict().store.loadChain(OWNER, first.id, { undecryptable: 'leave-out' }),
    ).toMatchObject([{ request: {}, input: [], output: [] }])
    expect(counts).toEqual([4])
    await expect(strict().store.loadChain(OWNER, first.id)).rejects.toMatchObject(UNTRUSTED)
    expect((await strict().recall.findTurns(keysOf(first.id))).turns).toEqual([])
    // Without a flag or setting, a database may contain text from before there was a key.
    expect(await storesWith(NEW).store.loadChain(OWNER, first.id)).toMatchObject([
      { request: { instructions: 'Obey.' } },
    ])
  })

  test('a turn from before there was a key is not trusted', async () => {
    await storeTurn(storesWith(), first, 'a')
    await expect(strict().archive.loadTurn(OWNER, first.id)).rejects.toMatchObject(UNTRUSTED)
  })
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
