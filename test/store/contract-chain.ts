/** Contract tests for loading chains of turns on every database. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { ITEM_OVERHEAD_BYTES } from '../../src/store/recall/recall-store-interface.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import { MAX_CHAIN_BYTES } from '../../src/store/turns/turn-statements.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import type { OpenEngine } from './engines.ts'
import {
  assistant,
  createEnding,
  newId,
  newTurn,
  nextTurn,
  OWNER,
  numberItems,
  STRANGER,
  user,
} from './turns.ts'

export function testChains(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
  })
  afterAll(() => engine.close())

  /** Opens and ends turns, each with its id as the text of an input and an output item. */
  const storeTurns = async (...turns: readonly NewTurn[]): Promise<void> => {
    for (const turn of turns) {
      await store.openTurn({ ...turn, input: [user(turn.id)] })
      await store.closeTurn(createEnding(turn, { items: numberItems([assistant(turn.id)]) }))
    }
  }
  const idsOf = async (turn: NewTurn): Promise<readonly string[] | undefined> =>
    (await store.loadChain(turn, turn.id))?.map(({ id }) => id)

  test('loadChain returns the turns from the first to the requested one with their items (C23)', async () => {
    const first = newTurn()
    const second = nextTurn(first)
    const third = nextTurn(second)
    await storeTurns(first, second, third)
    const chain = await store.loadChain(OWNER, second.id)
    expect(chain).toMatchObject(
      [first, second].map((turn) => ({
        id: turn.id,
        parent: turn.parent,
        thread: first.id,
        input: [user(turn.id)],
        output: [assistant(turn.id)],
      })),
    )
    expect(await idsOf(third)).toEqual([first.id, second.id, third.id])
  })

  test('loadChain claims the memory of a large chain before it reads its items, and returns the same as for a small one (C158)', async () => {
    const large = 'x'.repeat(1_200_000)
    const turns = [newTurn({ request: { instructions: 'Be kind.' } })]
    for (let at = 1; at < 5; at++) turns.push(nextTurn(turns.at(-1) as NewTurn))
    for (const turn of turns) {
      await store.openTurn({ ...turn, input: [user(turn.id + large)] })
      await store.closeTurn(createEnding(turn, { items: numberItems([assistant(turn.id)]) }))
    }
    const last = turns.at(-1) as NewTurn
    const claimed: number[] = []
    const chain = await store.loadChain(OWNER, last.id, {
      claimMemory: ({ bytes }) => void claimed.push(bytes),
    })
    expect(chain?.map(({ input }) => input)).toEqual(turns.map(({ id }) => [user(id + large)]))
    expect(chain?.map(({ output }) => output)).toMatchObject(turns.map(({ id }) => [assistant(id)]))
    expect(claimed.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(6_000_000)
    const reject = () => {
      throw new Error('There is no memory left.')
    }
    await expect(store.loadChain(OWNER, last.id, { claimMemory: reject })).rejects.toThrow(
      'no memory left',
    )
  })

  test('loadChain rejects a chain of more than 128 MB before it reads its items, also if its memory is free (C158)', async () => {
    const first = newTurn()
    const second = nextTurn(first)
    await storeTurns(first, second)
    const setBytes = (bytes: number) => {
      const sql = `update turns set bytes = ${bytes} - octet_length(request) where id in ('${first.id}', '${second.id}')`
      return engine.write([{ name: null, sql, parameters: [] }])
    }
    const { engine: watched, trips } = recordRoundTrips(engine)
    const load = () => createTurnStore(watched, encryption).loadChain(OWNER, second.id)
    // The chain has four items, whose overhead does not count, and two requests, which do.
    await setBytes(MAX_CHAIN_BYTES / 2 + 2 * ITEM_OVERHEAD_BYTES)
    expect(await load()).toHaveLength(2)
    await setBytes(MAX_CHAIN_BYTES / 2 + 2 * ITEM_OVERHEAD_BYTES + 1)
    trips.length = 0
    await expect(load()).rejects.toMatchObject({
      failure: { status: 400, code: 'context_length_exceeded' },
    })
    const names = trips.flatMap(({ queries }) => queries.map(({ name }) => name))
    expect(names).not.toContain('items-of-turns')
  })

  test('loadChain resolves to null for an unknown turn', async () => {
    for (const id of [newId(), '', 'a\0b', '\ud800', 'x'.repeat(10_000)]) {
      expect(await store.loadChain(OWNER, id)).toBeNull()
    }
  })

  test('loadChain returns the turns after a missing ancestor', async () => {
    const orphan = newTurn({ parent: newId() })
    await storeTurns(orphan)
    expect(await idsOf(orphan)).toEqual([orphan.id])
  })

  test('loadChain returns the stored items of an unfinished answer', async () => {
    const turn = newTurn()
    await store.openTurn(turn)
    await store.journalItems(turn, numberItems([assistant('so far')]))
    const [loaded] = (await store.loadChain(turn, turn.id)) ?? []
    expect(loaded).toMatchObject({ state: 'open', input: [], output: [assistant('so far')] })
  })

  test('loadChain returns no turns of other owners, not even as ancestors', async () => {
    const mine = newTurn()
    const theirs = nextTurn(mine, { tenant: 'other' })
    const mineAgain = nextTurn(theirs, { tenant: 'tenant' })
    await storeTurns(mine, theirs, mineAgain)
    expect(await store.loadChain(STRANGER, mine.id)).toBeNull()
    expect(await store.loadChain(OWNER, theirs.id)).toBeNull()
    expect(await idsOf(theirs)).toEqual([theirs.id])
    expect(await idsOf(mineAgain)).toEqual([mineAgain.id])
  })

  test('a caller cannot write to a turn of another tenant', async () => {
    const turn = newTurn({ input: [user('mine')] })
    await store.openTurn(turn)
    const foreign = { ...turn, tenant: 'other' }
    const items = numberItems([assistant('theirs')])
    await store.journalItems(foreign, items)
    expect(await store.closeTurn(createEnding(foreign, { items }))).toBe(false)
    await expect(
      store.openTurn({ ...foreign, input: [user('theirs'), user('theirs')] }),
    ).rejects.toThrow()
    await store.closeTurn(createEnding(foreign))
    expect(await store.loadChain(STRANGER, turn.id)).toBeNull()
    const chain = await store.loadChain(OWNER, turn.id)
    expect(chain).toMatchObject([{ state: 'open', input: [user('mine')], output: [] }])
  })

  test('loadChain returns each turn once if the parents form a cycle', async () => {
    const [one, two, three] = [newId(), newId(), newId()]
    const turns = [
      newTurn({ id: one, parent: three }),
      newTurn({ id: two, parent: one }),
      newTurn({ id: three, parent: two }),
    ]
    const itself = newId()
    await storeTurns(...turns, newTurn({ id: itself, parent: itself }))
    expect((await store.loadChain(OWNER, three))?.map(({ id }) => id)).toEqual([one, two, three])
    expect((await store.loadChain(OWNER, one))?.map(({ id }) => id)).toEqual([two, three, one])
    expect((await store.loadChain(OWNER, itself))?.map(({ id }) => id)).toEqual([itself])
  })

  test('loadChain never returns a sibling of a turn or of its ancestors, in any tree and any order of writes', async () => {
    const anyTree = fc.array(fc.nat(), { minLength: 1, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(anyTree, fc.boolean(), async (parents, isReversed) => {
        const turns: NewTurn[] = []
        for (const parent of parents) {
          const above = turns[parent % (turns.length + 1)]
          turns.push(above === undefined ? newTurn() : nextTurn(above))
        }
        await Promise.all((isReversed ? turns.toReversed() : turns).map((turn) => storeTurns(turn)))
        for (const turn of turns) expect(await idsOf(turn)).toEqual(listAncestors(turn, turns))
      }),
      { numRuns: 8 },
    )
  })

  test('many concurrent callers each read what they have just written', async () => {
    const first = newTurn()
    await storeTurns(first)
    await Promise.all(
      Array.from({ length: 25 }, async (_, at) => {
        const turn = nextTurn(first, { input: [user(`${at}`)] })
        await store.openTurn(turn)
        expect((await store.loadChain(OWNER, turn.id))?.at(-1)?.input).toEqual(turn.input)
        await store.journalItems(turn, numberItems([assistant('a')]))
        expect((await store.loadChain(OWNER, turn.id))?.at(-1)?.output).toHaveLength(1)
        await store.closeTurn(createEnding(turn, { items: numberItems([assistant('b')], 1) }))
        const chain = await store.loadChain(OWNER, turn.id)
        expect(chain?.map(({ state }) => state)).toEqual(['complete', 'complete'])
        expect(chain?.at(-1)?.output).toHaveLength(2)
      }),
    )
  })

  test('each method of the turn store takes one round trip of few statements for a conversation of any length', async () => {
    const { engine: counted, trips } = recordRoundTrips(engine)
    const countedStore = createTurnStore(counted, encryption)
    const turns = [newTurn()]
    while (turns.length < 40) turns.push(nextTurn(turns.at(-1) as NewTurn))
    await storeTurns(...turns)
    const countLoadQueries = async (turn: NewTurn | undefined): Promise<readonly number[]> => {
      trips.length = 0
      await countedStore.loadChain(OWNER, turn?.id ?? '')
      return trips.map(({ queries }) => queries.length)
    }
    expect(await countLoadQueries(turns[0])).toEqual([2])
    expect(await countLoadQueries(turns.at(-1))).toEqual([2])

    trips.length = 0
    const long = newTurn({ input: Array.from({ length: 30 }, () => user('x')) })
    await countedStore.openTurn(long)
    await countedStore.journalItems(long, numberItems(long.input))
    await countedStore.closeTurn(createEnding(long, { items: numberItems(long.input) }))
    // On Postgres the transaction begins with a lock that waits for deletion log entries.
    const waits = engine.language === 'postgres' ? 1 : 0
    expect(trips.map(({ verb, queries }) => [verb, queries.length])).toEqual([
      ['write', waits + 2],
      ['write', 1],
      ['write', 2],
    ])
    const parameters = trips.flatMap(({ queries }) => queries.map((query) => query.parameters))
    expect(Math.max(...parameters.map(({ length }) => length))).toBeLessThanOrEqual(100)
  })

  test('ping resolves if the database responds', async () => {
    await expect(store.ping()).resolves.toBeUndefined()
  })
}

/** Returns the ids from the root to `turn`, computed from the parents alone. */
function listAncestors(turn: NewTurn, turns: readonly NewTurn[]): readonly string[] {
  const parent = turns.find(({ id }) => id === turn.parent)
  return parent === undefined ? [turn.id] : [...listAncestors(parent, turns), turn.id]
}
