/** Checks that parts of chains are loaded as from the complete chain, and in few steps. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { ENGINES } from '../engines.ts'
import {
  assistant,
  createEnding,
  newTurn,
  nextTurn,
  numberItems,
  STRANGER,
  user,
} from '../turns.ts'

describe.each(ENGINES.filter(([name]) => name !== 'a SQLite file'))(
  'parts of chains on %s',
  (name, open) => {
    let engine: Engine
    let stores: Stores
    beforeAll(async () => {
      engine = await open()
      stores = createStores(engine)
    })
    afterAll(() => engine.close())

    /** Stores a tree of turns: turn `n + 1` continues turn `parents[n]` of those before it. */
    async function storeTree(
      parents: readonly number[],
      digestsOf: (at: number) => Readonly<Record<string, string>> = () => ({}),
    ): Promise<readonly NewTurn[]> {
      const turns: NewTurn[] = []
      for (const at of [0, ...parents.map((_, index) => index + 1)]) {
        const parent = turns[(parents[at - 1] ?? 0) % at]
        const digests = digestsOf(at)
        const fields = Object.entries(digests).filter(
          ([field, digest]) => parent?.digests?.[field] !== digest,
        )
        const request = Object.fromEntries(
          fields.map(([field, digest]) => [field, `value of ${digest}`]),
        )
        const own = { input: [user(`question ${at}`)], digests, request }
        const turn =
          parent === undefined
            ? newTurn(own)
            : nextTurn(parent, { ...own, depth: parent.depth + 1 })
        await stores.store.openTurn(turn)
        await stores.store.closeTurn(
          createEnding(turn, { items: numberItems([assistant(`${at}`)]) }),
        )
        turns.push(turn)
      }
      return turns
    }
    const runs = { numRuns: name === 'SQLite in memory' ? 40 : 4 }
    const tree = fc
      .array(fc.oneof(fc.nat(30), fc.constant(-1)), { minLength: 1, maxLength: 25 })
      .map(
        // -1 continues the latest turn, so that some chains are long.
        (parents) => parents.map((parent, at) => (parent === -1 ? at : parent)),
      )

    test('loadChainSlice returns the same turns as the complete chain', async () => {
      await fc.assert(
        fc.asyncProperty(
          tree,
          fc.nat(30),
          fc.nat(30),
          fc.nat(30),
          async (parents, at, depth, more) => {
            const turns = await storeTree(parents)
            const last = turns[at % turns.length] as NewTurn
            const chain = (await stores.store.loadChain(last, last.id)) ?? []
            const slice = { lastTurnId: last.id, lastDepth: depth, maxTurns: more + 1 }
            const expected = chain.filter((turn) => turn.depth <= depth).slice(-more - 1)
            expect(await stores.archive.loadChainSlice(last, slice)).toEqual(
              expected.map((turn) => ({ ...turn, request: expect.anything() as unknown })),
            )
            expect(await stores.archive.loadChainSlice(STRANGER, slice)).toEqual([])
          },
        ),
        runs,
      )
    })

    test('loadTurn completes a request as the complete chain does, in any order of values', async () => {
      const values = fc.array(fc.nat(2), { minLength: 26, maxLength: 26 })
      await fc.assert(
        fc.asyncProperty(tree, values, values, async (parents, tools, texts) => {
          const turns = await storeTree(parents, (at) => ({
            tools: `t${tools[at]}`,
            ...(texts[at] === 0 ? {} : { 'in"str\0uctions': `i${texts[at]}` }),
          }))
          for (const turn of turns.slice(-3)) {
            const chain = await stores.store.loadChain(turn, turn.id)
            expect((await stores.archive.loadTurn(turn, turn.id))?.request).toEqual(
              chain?.at(-1)?.request,
            )
          }
        }),
        runs,
      )
    })

    test('findTurnsOfItems finds the turns of own and of generated ids', async () => {
      const id = `item ${Math.random()}`
      const turn = newTurn({ id: '01M7R8WH3CG7NWY4TNQS', input: [{ ...user('a'), id }] })
      await stores.store.openTurn(turn)
      const found = { turnId: turn.id, thread: turn.thread, depth: 0 }
      expect(await stores.archive.findTurnsOfItems(turn, [id, 'unknown'])).toEqual([found])
      expect(await stores.archive.findTurnsOfItems(turn, [`msg_${turn.id}I0`])).toEqual([found])
      expect(await stores.archive.findTurnsOfItems(STRANGER, [id, `msg_${turn.id}I0`])).toEqual([])
      expect(await stores.archive.findTurnsOfItems({ ...turn, user: 'x' }, [id])).toEqual([])
      expect(await stores.archive.findTurnsOfItems(turn, ['x'.repeat(300)])).toBeNull()
    })
  },
)

test('any ancestor in a chain of 2,000 turns is at most 30 shortcuts and parents away', async () => {
  const open = ENGINES.find(([name]) => name === 'SQLite in memory')?.[1]
  if (open === undefined) throw new Error('There is no SQLite.')
  const engine = await open()
  const { store } = createStores(engine)
  let turn = newTurn()
  await store.openTurn(turn)
  for (let depth = 1; depth < 2000; depth += 1) {
    turn = nextTurn(turn, { depth })
    await store.openTurn(turn)
  }
  const sql =
    'select depth, (select far.depth from turns far where far.id = turns.shortcut) as shortcut from turns'
  const [rows = []] = await engine.read([{ name: null, sql, parameters: [] }])
  const shortcuts = new Map(
    (rows as readonly { readonly depth: number; readonly shortcut: number | null }[]).map((row) => [
      row.depth,
      row.shortcut ?? 0,
    ]),
  )
  const countSteps = (ancestor: number): number => {
    let steps = 0
    for (let depth = 1999; depth > ancestor; steps += 1) {
      const shortcut = shortcuts.get(depth) ?? 0
      depth = shortcut >= ancestor ? shortcut : depth - 1
    }
    return steps
  }
  const steps = Array.from({ length: 2000 }, (_, ancestor) => countSteps(ancestor))
  expect(Math.max(...steps)).toBeLessThanOrEqual(30)
  await engine.close()
})
