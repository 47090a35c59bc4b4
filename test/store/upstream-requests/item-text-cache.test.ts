import { expect, test } from 'vitest'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { createStores } from '../../../src/store/create-stores.ts'
import { NO_ENCRYPTION } from '../../../src/store/encryption/decrypt-rows.ts'
import { createItemTextCache } from '../../../src/store/upstream-requests/item-text-cache.ts'
import { newTurn, OWNER, user } from '../turns.ts'

const LONG = 'words and words '.repeat(1_000)

test('the item text cache returns the texts of a turn once, and only to its tenant', () => {
  const texts = createItemTextCache(8_000_000)
  texts.add('t', 'one', [LONG])
  expect(texts.take('other', 'one')).toEqual([])
  expect(texts.take('t', 'one')).toEqual([LONG])
  expect(texts.take('t', 'one')).toEqual([])
})

test('item texts are not cached if requests are not stored', async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  const copiesOf = async (storesUpstreamRequests: boolean): Promise<number> => {
    const { store, requests } = createStores(engine, NO_ENCRYPTION, { storesUpstreamRequests })
    const turn = newTurn({ input: [user(LONG)] })
    await store.openTurn(turn)
    const body = JSON.stringify({ messages: [{ role: 'user', content: LONG }] })
    const rounds = [{ body, items: '[]', about: '{}' }]
    await requests.saveRequests(OWNER, turn.id, async () => ({
      requests: rounds,
      baseTurnId: null,
    }))
    const sql = `select part from requests where turn_id = '${turn.id}' and part = 'copies'`
    const [copies = []] = await engine.read([{ name: null, sql, parameters: [] }])
    return copies.length
  }
  expect([await copiesOf(true), await copiesOf(false)]).toEqual([1, 0])
  await engine.close()
})
