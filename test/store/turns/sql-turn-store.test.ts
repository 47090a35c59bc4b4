import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  encodeColumnText,
  encodeKeyColumn,
} from '../../../src/store/database/encode-column-text.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { encodeTurn } from '../../../src/store/turns/encode-turn-rows.ts'
import {
  createTurnStatements,
  MAX_CHAIN_BYTES,
  MAX_CHAIN_TURNS,
} from '../../../src/store/turns/turn-statements.ts'
import { createStorageCipher } from '../../../src/store/encryption/cipher.ts'
import { NO_ENCRYPTION } from '../../../src/store/encryption/decrypt-rows.ts'
import { newTurn, ORIGIN, OWNER, numberItems, user } from '../turns.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openNodeSqlite(':memory:')
  await migrate(engine)
})
afterAll(() => engine.close())

const select = async (sql: string, ...parameters: string[]): Promise<unknown> =>
  (await engine.read([{ name: null, sql, parameters }]))[0]

test('loadChain rejects if a chain is too long for any model, and returns no part of it', async () => {
  const { insertTurn } = createTurnStatements('sqlite')
  const turns = Array.from({ length: MAX_CHAIN_TURNS + 1 }, (_, at) =>
    newTurn({ id: `L${at}`, parent: at === 0 ? null : `L${at - 1}` }),
  )
  await engine.write(turns.map((turn) => insertTurn(encodeTurn(turn, NO_ENCRYPTION.cipher).row)))
  const store = createTurnStore(engine)
  await expect(store.loadChain(OWNER, `L${MAX_CHAIN_TURNS}`)).rejects.toMatchObject({
    failure: { status: 400, code: 'context_length_exceeded' },
  })
  expect(await store.loadChain(OWNER, `L${MAX_CHAIN_TURNS - 1}`)).toHaveLength(MAX_CHAIN_TURNS)
})

test('loadChain rejects a chain whose texts are more than 128 MB when they are decompressed (C158)', async () => {
  const key = { kid: 'k1', key: new Uint8Array(32).fill(7) }
  const store = createTurnStore(engine, { ...NO_ENCRYPTION, cipher: createStorageCipher([key]) })
  const text = 'x'.repeat(MAX_CHAIN_BYTES / 8)
  const turn = newTurn({ input: Array.from({ length: 9 }, () => user(text)) })
  await store.openTurn(turn)
  await expect(store.loadChain(OWNER, turn.id)).rejects.toMatchObject({
    failure: { status: 400, code: 'context_length_exceeded' },
  })
})

test('openTurn stores the type, id and call id of an item in columns', async () => {
  const turn = newTurn()
  const store = createTurnStore(engine)
  await store.openTurn(turn)
  await store.journalItems(
    turn,
    numberItems([
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'opaque', raw: { type: 'shell_call', id: 'sh_1', call_id: 'call_2' } },
      { type: 'opaque', raw: { id: 7, call_id: 'c'.repeat(257) } },
      user('hi'),
    ]),
  )
  const columns = await select(
    'select type, item_id, call_id from items where turn_id = ? order by position',
    turn.id,
  )
  expect(columns).toMatchObject([
    { type: 'function_call', item_id: 'fc_1', call_id: 'call_1' },
    { type: 'shell_call', item_id: 'sh_1', call_id: 'call_2' },
    { type: 'opaque', item_id: null, call_id: null },
    { type: 'message', item_id: null, call_id: null },
  ])
})

test('encodeColumnText returns different values for different texts', () => {
  const texts = ['a', '"a"', '"\\"a\\""', 'a\0', '"a\\u0000"', '\ud800', '"\\ud800"', '\ufffd', '']
  expect(new Set(texts.map(encodeColumnText)).size).toBe(texts.length)
  for (const column of texts.map(encodeColumnText)) {
    expect(column.isWellFormed()).toBe(true)
    expect(column).not.toContain('\0')
  }
  expect(encodeColumnText('plain')).toBe('plain')
  expect(encodeKeyColumn('call_1')).toBe('call_1')
  expect([null, undefined, 7, {}, 'x'.repeat(257)].map(encodeKeyColumn)).toEqual(
    Array(5).fill(null),
  )
})

test.each(['chainTurns', 'chainItems'] as const)(
  'the statement %s uses an index and scans no table',
  async (name) => {
    const { sql, parameters } = createTurnStatements('sqlite')[name]({
      id: 'x',
      tenant: 't',
      user: '',
    })
    const plan = (
      await engine.read([{ name: null, sql: `explain query plan ${sql}`, parameters }])
    )[0]
    const steps = (plan as readonly { readonly detail: string }[]).map(({ detail }) => detail)
    expect(steps.filter((step) => /^SCAN (?!chain)/.test(step))).toEqual([])
    expect(steps.filter((step) => /TEMP B-TREE|AUTOMATIC/.test(step))).toEqual([])
  },
)

test('openTurn writes all columns that encodeTurn returns', async () => {
  const turn = newTurn({ user: 'someone', parent: 'P', request: { a: [1] }, origin: ORIGIN })
  await createTurnStore(engine).openTurn(turn)
  expect(await select('select * from turns where id = ?', turn.id)).toMatchObject([
    encodeTurn(turn, NO_ENCRYPTION.cipher).row,
  ])
})
