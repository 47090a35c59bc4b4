import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import {
  reEncryptRows,
  type ReEncryptionProgress,
} from '../../../src/store/encryption/re-encrypt-rows.ts'
import {
  createStorageCipher,
  type StorageCipher,
  type StorageKey,
} from '../../../src/store/encryption/cipher.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import { ENGINES } from '../engines.ts'
import { assistant, createEnding, newTurn, numberItems, user } from '../turns.ts'

const OLD: StorageKey = { kid: 'old', key: new Uint8Array(32).fill(1) }
const NEW: StorageKey = { kid: 'n_w', key: new Uint8Array(32).fill(2) }
const GONE: StorageKey = { kid: 'gone', key: new Uint8Array(32).fill(3) }
const RING = createStorageCipher([NEW, OLD])
const NOT_THERE = () => {
  throw new Error('It cannot be read.')
}
const QUIET = () => {}

describe.each(ENGINES.slice(1))('re-encryption of stored texts on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  const storesWith = (cipher: StorageCipher, onUnreadable: () => void = NOT_THERE): Stores =>
    createStores(engine, { cipher, onUnreadable })
  const failure = { status: 500, type: 'x', code: null, message: 'said', param: null }

  /**
   * Writes five texts: a request, a failure, an input and an output item, and a group of events.
   */
  async function storeTexts({ runs }: Stores, words = 'said') {
    const turn = newTurn({
      background: true,
      replicaId: 'R1',
      request: { instructions: words },
      input: [user(words)],
    })
    const hold = { turnId: turn.id, tenant: turn.tenant, user: turn.user, replicaId: 'R1' }
    await runs.openRun(turn, { first: 0, last: 2, text: `data: ${words}\n\n` })
    await runs.endRun(
      hold,
      createEnding(turn, { items: numberItems([assistant(words)]), failure }),
      null,
    )
    return turn
  }
  async function loadTexts({ store, runs }: Stores, turn: ReturnType<typeof newTurn>) {
    const [stored] = (await store.loadChain(turn, turn.id)) ?? []
    const log = await runs.readLog(turn, turn.id, 0)
    return JSON.stringify([stored, log?.groups])
  }
  async function texts(): Promise<readonly string[]> {
    const sql = `select request as text from turns union all select failure from turns
      union all select body from items union all select text from stream_events`
    const [rows = []] = await engine.read([{ name: null, sql, parameters: [] }])
    return (rows as readonly { readonly text: string }[]).map(({ text }) => text)
  }
  const areNew = async () =>
    (await texts()).filter((text) => RING.currentPrefixes.some((head) => text.startsWith(head)))

  test('re-encryption encrypts every text once with the first key, and the texts stay readable', async () => {
    const plain = await storeTexts(storesWith(createStorageCipher([])))
    const long = await storeTexts(storesWith(createStorageCipher([])), 'said '.repeat(8_000))
    const old = await storeTexts(storesWith(createStorageCipher([OLD])))
    const recent = await storeTexts(storesWith(RING))
    const turns = [plain, long, old, recent]
    const before = await Promise.all(turns.map((turn) => loadTexts(storesWith(RING), turn)))

    expect(await reEncryptRows(engine, RING, QUIET)).toEqual({
      reEncryptedCount: 15,
      unreadableCount: 0,
    })
    const encryptedTexts = await texts()
    expect(await areNew()).toHaveLength(20)
    expect(encryptedTexts).toHaveLength(20)
    const after = turns.map((turn) => loadTexts(storesWith(createStorageCipher([NEW])), turn))
    expect(await Promise.all(after)).toEqual(before)

    expect(await reEncryptRows(engine, RING, QUIET)).toEqual({
      reEncryptedCount: 0,
      unreadableCount: 0,
    })
    expect((await texts()).toSorted()).toEqual(encryptedTexts.toSorted())
  })

  test('re-encryption counts texts that no key decrypts, and leaves them unchanged', async () => {
    const turn = await storeTexts(storesWith(createStorageCipher([GONE])))
    expect(await reEncryptRows(engine, RING, QUIET)).toEqual({
      reEncryptedCount: 0,
      unreadableCount: 5,
    })
    expect(await loadTexts(storesWith(createStorageCipher([GONE, NEW])), turn)).toContain('said')
  })

  test('re-encryption of several batches of rows can be interrupted and started again', async () => {
    const turn = newTurn({ input: Array.from({ length: 450 }, (_, at) => user(`word ${at}`)) })
    await storesWith(createStorageCipher([])).store.openTurn(turn)
    const batches: ReEncryptionProgress[] = []
    const interrupted = reEncryptRows(engine, RING, (soFar) => {
      batches.push(soFar)
      if (soFar.reEncryptedCount > 200) throw new Error('enough')
    })
    await expect(interrupted).rejects.toThrow('enough')
    expect(await reEncryptRows(engine, RING, QUIET)).toMatchObject({
      reEncryptedCount: 451 - (batches.at(-1)?.reEncryptedCount ?? 0),
    })
    const [stored] = (await storesWith(RING).store.loadChain(turn, turn.id)) ?? []
    expect(stored?.input).toEqual(turn.input)
  })

  test('re-encryption does not overwrite a text that another process changes meanwhile', async () => {
    const plain = storesWith(createStorageCipher([]))
    const turn = newTurn({ background: true, replicaId: 'R1' })
    const hold = { turnId: turn.id, tenant: turn.tenant, user: turn.user, replicaId: 'R1' }
    await plain.runs.openRun(turn, { first: 0, last: 0, text: 'data: 0\n\n' })
    const grown = { first: 0, last: 1, text: 'data: 0\n\ndata: 1\n\n' }
    const meanwhile: Engine = {
      ...engine,
      async write(queries, survives) {
        await storesWith(RING).runs.recordRun(hold, grown, [])
        return engine.write(queries, survives)
      },
    }
    await reEncryptRows(meanwhile, RING, QUIET)
    expect((await storesWith(RING).runs.readLog(turn, turn.id, 0))?.groups).toEqual([grown])
  })
})

test('re-encryption reads rows of many megabytes in several batches', async () => {
  const [, [, open]] = ENGINES as readonly [unknown, (typeof ENGINES)[number]]
  const engine = await open()
  const { store } = createStores(engine)
  const turn = newTurn({ input: Array.from({ length: 4 }, () => user('x'.repeat(3_000_000))) })
  await store.openTurn(turn)
  const sizes: number[] = []
  const watched: Engine = {
    ...engine,
    async read(queries) {
      const rows = await engine.read(queries)
      sizes.push(rows.flat().length)
      return rows
    },
  }
  expect(await reEncryptRows(watched, RING, QUIET)).toEqual({
    // The request, four items and eight pieces of each.
    reEncryptedCount: 37,
    unreadableCount: 0,
  })
  expect(Math.max(...sizes)).toBeLessThan(13)
  await engine.close()
})
