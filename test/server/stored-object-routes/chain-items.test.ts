/** Checks that pages of a chain have the same items and ids as a list of the complete chain. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import {
  findChainItem,
  listAddedItems,
  loadLastTurn,
  renderItemPage,
  type ItemChain,
} from '../../../src/server/stored-object-routes/chain-items.ts'
import { listTurnItems } from '../../../src/server/stored-object-routes/list-turn-items.ts'
import { renderPage, type Paging } from '../../../src/server/stored-object-routes/paging.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { ENGINES } from '../../store/engines.ts'
import { assistant, createEnding, newTurn, nextTurn, numberItems, user } from '../../store/turns.ts'

let engine: Engine
let stores: Stores
let chainLoads = 0
beforeAll(async () => {
  const open = ENGINES.find(([name]) => name === 'SQLite in memory')?.[1]
  if (open === undefined) throw new Error('There is no SQLite.')
  engine = await open()
  const { store, ...others } = createStores(engine)
  stores = {
    ...others,
    store: {
      ...store,
      loadChain(...request) {
        chainLoads += 1
        return store.loadChain(...request)
      },
    },
  }
})
afterAll(() => engine.close())

interface TurnSketch {
  /** The ids of the input items; an empty id is generated. */
  readonly inputIds: readonly string[]
  readonly outputs: number
  readonly hidesFirst: boolean
}

let count = 0

async function storeChain(sketches: readonly TurnSketch[]): Promise<NewTurn> {
  let last: NewTurn | null = null
  count += 1
  for (const [depth, { inputIds, outputs, hidesFirst }] of sketches.entries()) {
    const id = `01M7R8WH3CG${String(count * 1000 + depth).padStart(9, '0')}`
    const input = inputIds.map((itemId, at): Item => {
      const item = user(`question ${depth}.${at}`)
      if (itemId === '') return item
      // `back` is the generated id of the first item of the chain, which a client has sent back.
      const first = `01M7R8WH3CG${String(count * 1000).padStart(9, '0')}`
      return { ...item, id: itemId === 'back' ? `msg_${first}I0` : `${itemId}-${count}` }
    })
    const turn: NewTurn =
      last === null ? newTurn({ id, input }) : nextTurn(last, { id, input, depth })
    await stores.store.openTurn(turn)
    const items = numberItems(
      Array.from({ length: outputs }, (_, at) => assistant(`${depth}.${at}`)),
    )
    await stores.store.closeTurn(createEnding(turn, { items }))
    if (hidesFirst) await stores.conversations.hideItem(turn, { turnId: id, side: 'in', index: 0 })
    last = turn
  }
  return last as NewTurn
}

async function openChain(
  last: NewTurn,
  lastListedPart: ItemChain['lastListedPart'] = 'answer',
): Promise<ItemChain> {
  const head = await loadLastTurn(last, last.id, stores)
  return { caller: last, head, lastListedPart, include: [] }
}

const sketch = fc.record({
  inputIds: fc.array(fc.constantFrom('', '', '', 'a', 'b', 'c', 'd', 'e', 'back'), {
    maxLength: 3,
  }),
  outputs: fc.nat(2),
  hidesFirst: fc.boolean(),
})

test('every page of a chain is the same as that of the complete list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sketch, { minLength: 1, maxLength: 14 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.constantFrom('question' as const, 'answer' as const),
      async (sketches, limit, order, part) => {
        const last = await storeChain(sketches)
        const chain = await openChain(last, part)
        const all = (await stores.store.loadChain(last, last.id)) ?? []
        const items = listTurnItems(all, part, [])
        for (const after of [null, ...items.map(({ id }) => id)]) {
          const paging: Paging = { after, limit, order }
          expect(await renderItemPage(chain, paging, stores)).toEqual(
            renderPage(items, paging, (item) => item.render()),
          )
        }
        for (const { id, isHidden, position } of items) {
          const found = await findChainItem(chain, id, stores)
          expect(found?.position ?? null).toEqual(isHidden ? null : position)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('added items get the ids that later lists of the chain have', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sketch, { minLength: 2, maxLength: 8 }), async (sketches) => {
      const last = await storeChain(sketches)
      const all = (await stores.store.loadChain(last, last.id)) ?? []
      const added = all.at(-1)
      const before = all.at(-2)
      if (added === undefined || before === undefined) return
      const chain = { caller: last, head: before, lastListedPart: 'answer', include: [] } as const
      const items = await listAddedItems(chain, added, stores)
      const expected = listTurnItems(all, 'answer', []).slice(all.length - 1)
      expect(items.map(({ id }) => id)).toEqual(
        items.length === 0 ? [] : expected.slice(-items.length).map(({ id }) => id),
      )
    }),
    { numRuns: 30 },
  )
})

test('pages, single items and unknown items of a long chain do not load the complete chain', async () => {
  const simple = { inputIds: [''], outputs: 1, hidesFirst: false }
  const last = await storeChain(Array.from({ length: 300 }, () => simple))
  const chain = await openChain(last)
  const loads = chainLoads
  let after: string | null = null
  for (const order of ['asc', 'asc', 'asc', 'desc', 'desc'] as const) {
    const page = await renderItemPage(chain, { after, limit: 20, order }, stores)
    expect(page['data']).toHaveLength(20)
    after = page['last_id'] as string
  }
  expect(await findChainItem(chain, after ?? '', stores)).not.toBeNull()
  expect(await findChainItem(chain, 'msg_unknown', stores)).toBeNull()
  expect(chainLoads).toBe(loads)
})
