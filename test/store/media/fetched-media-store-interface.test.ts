import { describe, expect, test } from 'vitest'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import { createFetchedMediaStore } from '../../../src/store/media/sql-fetched-media-store.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { reEncryptRows } from '../../../src/store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../../src/store/encryption/cipher.ts'
import { testMedia } from '../contract-media.ts'
import { ENGINES, ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'
import { newTurn } from '../turns.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('stored media on %s', (_, open, encryption) =>
  testMedia(open, encryption),
)

test.each(ENGINES.slice(1))(
  're-encryption encrypts media on %s with a new key',
  async (_, open) => {
    const engine = await open()
    const keys = ['k1', 'k2'].map((kid, at) => ({ kid, key: new Uint8Array(32).fill(at) }))
    const vaultOf = (...ring: typeof keys) => ({
      cipher: createStorageCipher(ring),
      onUnreadable: () => undefined,
    })
    const [older, newer] = [keys.slice(0, 1), keys.slice(1)]
    const owner = { tenant: 't', user: 'ann', thread: null }
    const url = 'https://a.example/a.png'
    const medium = { type: 'image/png', base64: 'QUJD'.repeat(300_000) }
    await createFetchedMediaStore(engine, vaultOf(...older)).saveMedium(owner, url, medium, 1)
    const wanted = { urls: [url], fitsInMemory: () => true, nowMs: 1 }
    expect(
      (await createFetchedMediaStore(engine, vaultOf(...newer)).findMedia(owner, wanted)).size,
    ).toBe(0)
    await reEncryptRows(engine, createStorageCipher([...newer, ...older]), () => undefined)
    const found = await createFetchedMediaStore(engine, vaultOf(...newer)).findMedia(owner, wanted)
    expect(found.get(url)).toEqual(medium)
    await engine.close()
  },
)

test('a medium whose key was lost can be read after another turn has stored it again', async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  const image_url = `data:image/png;base64,${'QUJD'.repeat(2_000)}`
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_image', image_url }] },
  ] as const
  const storeWith = (...kids: readonly string[]) => {
    const keys = kids.map((kid) => ({ kid, key: new Uint8Array(32).fill(kid.length) }))
    return createTurnStore(engine, {
      cipher: createStorageCipher(keys),
      onUnreadable: () => undefined,
    })
  }
  const [before, after] = [newTurn({ input }), newTurn({ input })]
  await storeWith('old').openTurn(before)
  await storeWith('newer').openTurn(after)
  const [read] = (await storeWith('newer').loadChain(after, after.id)) ?? []
  expect(read?.input).toMatchObject(input)
  // A medium that is stored with the same key already is not written again.
  const written = () =>
    engine.read([{ name: null, sql: 'select * from media_pieces', parameters: [] }])
  const pieces = await written()
  await storeWith('newer').openTurn(newTurn({ input }))
  expect(await written()).toEqual(pieces)
  await engine.close()
})
