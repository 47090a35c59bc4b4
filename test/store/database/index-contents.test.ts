/** Checks that partial indexes hold only the rows that their queries want, so that others are not read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import { ENGINES } from '../engines.ts'
import { assistant, createEnding, newTurn, numberItems, OWNER } from '../turns.ts'

const open = ENGINES.find(([name]) => name === 'SQLite in memory')?.[1]
let engine: Engine
let stores: Stores
beforeAll(async () => {
  if (open === undefined) throw new Error('There is no SQLite.')
  engine = await open()
  stores = createStores(engine)
})
afterAll(() => engine.close())

/** Returns the number of rows of an index, from the statistics of SQLite. */
async function countRows(index: string): Promise<number> {
  const [, , [row] = []] = await engine.write([
    { name: null, sql: 'analyze', parameters: [] },
    { name: null, sql: 'analyze sqlite_schema', parameters: [] },
    { name: null, sql: 'select stat from sqlite_stat1 where idx = ?', parameters: [index] },
  ])
  return Number.parseInt((row as { readonly stat: string } | undefined)?.stat ?? '0', 10)
}

async function storeChats(count: number, contentHash: string | null): Promise<void> {
  const call = { type: 'function_call', call_id: 'call_0', name: 'f', arguments: '{}' } as const
  for (let at = 0; at < count; at += 1) {
    const turn = newTurn({ ...OWNER, dialect: 'chat' })
    await stores.store.openTurn(turn)
    const items = numberItems([assistant('yes'), call])
    await stores.store.closeTurn(createEnding(turn, { items, contentHash }))
  }
}

test('reused call ids of known users are not in the index of calls without a user', async () => {
  await storeChats(30, null)
  expect(await countRows('calls_by_user')).toBe(30)
  expect(await countRows('items_by_call')).toBe(0)
})

test('remembered chats are not in the indexes of listed chats', async () => {
  await storeChats(20, null)
  await storeChats(3, 'hash')
  expect(await countRows('listed_chats')).toBe(3)
  expect(await countRows('listed_chats_by_model')).toBe(3)
  expect(await countRows('labelled_chats')).toBe(0)
})
