/**
 * Contract tests for the turn management store on every database: reading, listing, finding and
 * deleting turns.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemId } from '../../src/core/turn-derived-ids.ts'
import type { Item } from '../../src/core/item.ts'
import type {
  TurnManagementStore,
  TurnPage,
} from '../../src/store/turns/turn-management-store-interface.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
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
  ORIGIN,
  OWNER,
  numberItems,
  STRANGER,
  user,
} from './turns.ts'

export function testTurnManagement(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let archive: TurnManagementStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    archive = createTurnManagementStore(engine, encryption)
  })
  afterAll(() => engine.close())

  const storeTurns = async (...turns: readonly NewTurn[]): Promise<void> => {
    for (const turn of turns) {
      await store.openTurn(turn)
      const items = numberItems([assistant(turn.id)])
      await store.closeTurn(createEnding(turn, { items, contentHash: turn.id }))
    }
  }
  const deleteTurn = (turn: NewTurn) => archive.deleteTurn({ ...turn, turnId: turn.id, nowMs: 5 })
  /** Counts the rows of the turn and of its items. */
  const countRows = async ({ id }: NewTurn): Promise<readonly number[]> => {
    const count = (sql: string) => ({ name: null, sql, parameters: [] })
    const rows = await engine.read([
      count(`select count(*) as n from turns where id = '${id}'`),
      count(`select count(*) as n from items where turn_id = '${id}'`),
    ])
    return rows.map(([row]) => (row as { readonly n: number }).n)
  }

  const reject = () => {
    throw new Error('There is no memory left.')
  }

  describe('turns that loadTurn returns', () => {
    test('loadTurn returns the items of a turn, and a request completed with fields of its ancestors', async () => {
      const tools = [{ type: 'function', name: 'f' }]
      const digests = { tools: 'd1', instructions: 'd2' }
      const first = newTurn({ request: { tools, instructions: 'Be kind.' }, digests })
      const second = nextTurn(first, { request: { top_p: 1 }, digests, input: [user('two')] })
      const third = nextTurn(second, {
        request: { instructions: 'Be brief.' },
        digests: { ...digests, instructions: 'd3' },
      })
      await storeTurns(first, second, third)
      expect(await archive.loadTurn(OWNER, second.id)).toMatchObject({
        id: second.id,
        request: { tools, instructions: 'Be kind.', top_p: 1 },
        input: [user('two')],
        output: [assistant(second.id)],
      })
      const chain = await store.loadChain(OWNER, third.id)
      expect(chain?.map(({ request }) => request)).toEqual([
        { tools, instructions: 'Be kind.' },
        { tools, instructions: 'Be kind.', top_p: 1 },
        { tools, instructions: 'Be brief.' },
      ])
    })

    test('loadTurn claims the memory of a large turn before it reads its items (C158)', async () => {
      const input = Array.from({ length: 6 }, (_, at) =>
        user(`${at} ${randomBytes(750_000).toString('base64')}`),
      )
      const turn = newTurn({ input })
      await storeTurns(newTurn(), turn)
      let claimed = 0
      const claim = ({ bytes }: { bytes: number }) => void (claimed += bytes)
      const loaded = await archive.loadTurn(OWNER, turn.id, claim)
      expect(loaded).toMatchObject({ input, output: [assistant(turn.id)] })
      expect(claimed).toBeGreaterThan(6_000_000)
      const { engine: watched, trips } = recordRoundTrips(engine)
      await expect(
        createTurnManagementStore(watched, encryption).loadTurn(OWNER, turn.id, reject),
      ).rejects.toThrow('no memory left')
      const names = trips.flatMap(({ queries }) => queries.map(({ name }) => name))
      expect(names).not.toContain('items-of-turns')
    })

    test('loadTurn does not copy request fields of ancestors that have no digest', async () => {
      const first = newTurn({ request: { tools: [1] }, digests: { tools: 'd' } })
      const second = nextTurn(first, { request: {}, digests: {} })
      await storeTurns(first, second)
      expect((await archive.loadTurn(OWNER, second.id))?.request).toEqual({})
    })

    test('loadTurn returns how the turn ended', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      const end = { finish: 'length', servedModel: 'm"odel\0', contentHash: 'h1' } as const
      await store.closeTurn(createEnding(turn, { state: 'incomplete', ...end }))
      expect(await archive.loadTurn(OWNER, turn.id)).toMatchObject(end)
    })

    test('loadTurn finds no turn of another owner', async () => {
      const turn = newTurn()
      await storeTurns(turn)
      expect(await archive.loadTurn(STRANGER, turn.id)).toBeNull()
      expect(await archive.loadTurn(OWNER, newId())).toBeNull()
    })
  })

  describe('deletion of a turn with deleteTurn', () => {
    const none = [0, 0]

    test('deleteTurn deletes all rows of a turn that nothing depends on', async () => {
      const turn = newTurn({ input: [user('hi')] })
      await storeTurns(turn)
      expect(await deleteTurn(turn)).toBe('deleted')
      expect(await countRows(turn)).toEqual([0, 0])
      expect(await deleteTurn(turn)).toBe('unknown')
    })

    test('deleteTurn keeps the items of a turn until its descendants are deleted', async () => {
      const first = newTurn()
      const second = nextTurn(first)
      const third = nextTurn(second)
      await storeTurns(first, second, third)
      expect(await deleteTurn(first)).toBe('deleted')
      expect(await deleteTurn(second)).toBe('deleted')
      expect((await archive.loadTurn(OWNER, first.id))?.deletedAtMs).toBe(5)
      const chain = await store.loadChain(OWNER, third.id)
      expect(chain?.flatMap(({ output }) => output)).toMatchObject(
        [first, second, third].map(({ id }) => assistant(id)),
      )
      expect(await deleteTurn(first)).toBe('unknown')
      await deleteTurn(third)
      expect(await Promise.all([first, second, third].map(countRows))).toEqual([none, none, none])
    })

    test('deleteTurn deletes a turn of one branch and keeps the other branch', async () => {
      const first = newTurn()
      const [left, right] = [nextTurn(first), nextTurn(first)]
      await storeTurns(first, left, right)
      await deleteTurn(first)
      await deleteTurn(left)
      expect(await countRows(left)).toEqual([0, 0])
      expect(await store.loadChain(OWNER, right.id)).toHaveLength(2)
      await deleteTurn(right)
      expect(await countRows(first)).toEqual([0, 0])
    })

    test('deleteTurn also deletes ancestors that are marked as deleted, up to an unmarked turn or the head of a conversation', async () => {
      const first = newTurn()
      const second = nextTurn(first)
      await storeTurns(first, second)
      await deleteTurn(second)
      expect(await countRows(first)).toEqual([1, 1])
      await engine.write([
        {
          name: null,
          sql: `insert into conversations (id, tenant, metadata, created_at, head)
            values ('conv_${first.id}', 'tenant', '{}', 1, '${first.id}')`,
          parameters: [],
        },
      ])
      expect(await deleteTurn(first)).toBe('deleted')
      expect(await countRows(first)).toEqual([1, 1])
    })

    test('deleteTurn does not delete turns of other owners or dialects, nor unfinished ones', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      expect(await deleteTurn({ ...turn, tenant: 'other' })).toBe('unknown')
      expect(await deleteTurn({ ...turn, dialect: 'chat' })).toBe('unknown')
      expect(await deleteTurn(turn)).toBe('running')
      expect(await countRows(turn)).toEqual([1, 0])
      expect((await archive.loadTurn(OWNER, turn.id))?.deletedAtMs).toBeNull()
    })

    test("deleteTurn deletes the events of the turn's run", async () => {
      const turn = newTurn()
      await storeTurns(turn, nextTurn(turn))
      const count = { name: null, sql: 'select count(*) as n from stream_events', parameters: [] }
      const [[before] = []] = await engine.read([count])
      await engine.write([
        {
          name: null,
          sql: `insert into stream_events (turn_id, first_number, last_number, tenant, text)
            values ('${turn.id}', 0, 1, 'tenant', 'x')`,
          parameters: [],
        },
      ])
      await deleteTurn(turn)
      expect(await engine.read([count])).toEqual([[before]])
    })
  })

  describe('metadata of a stored turn', () => {
    test('replaceMetadata replaces all labels, and only of completed turns of the tenant', async () => {
      const turn = newTurn({ dialect: 'chat', metadata: { a: '1', b: '2' } })
      const labels = { ...OWNER, turnId: turn.id, dialect: 'chat', metadata: { c: 'ü"' } }
      await store.openTurn(turn)
      expect(await archive.replaceMetadata(labels)).toBe(false)
      await store.closeTurn(createEnding(turn))
      expect(await archive.replaceMetadata({ ...labels, tenant: 'other' })).toBe(false)
      expect(await archive.replaceMetadata({ ...labels, dialect: 'responses' })).toBe(false)
      expect((await archive.loadTurn(OWNER, turn.id))?.metadata).toEqual({ a: '1', b: '2' })
      expect(await archive.replaceMetadata(labels)).toBe(true)
      expect((await archive.loadTurn(OWNER, turn.id))?.metadata).toEqual({ c: 'ü"' })
    })
  })

  describe('pages of chat completions that listTurns returns', () => {
    const tenant = newId()
    const label = [{ topic: 'a' }, { topic: 'b', 'to"pic': 'a' }, { topic: 'a', x: 'y' }, {}]
    const turns = label.map((metadata, at) =>
      newTurn({
        id: `${newId().slice(0, 19)}${at}`.replace(/^.{6}/, '00000A'),
        tenant,
        dialect: 'chat',
        metadata,
        origin: { ...ORIGIN, model: at === 3 ? 'other' : 'asked' },
      }),
    )
    const ids = turns.map(({ id }) => id).toSorted()
    const list = async (page: Partial<TurnPage> = {}): Promise<readonly string[]> => {
      const all = { tenant, user: null, model: null, metadata: {}, after: null, limit: 100 }
      const found = await archive.listTurns({ ...all, order: 'asc', ...page })
      return found.map(({ id }) => id)
    }
    const idsOf = (...places: readonly number[]) =>
      places.map((place) => turns[place]?.id ?? '').toSorted()
    beforeAll(async () => {
      await storeTurns(...turns)
      await storeTurns(newTurn({ tenant }), newTurn({ tenant: 'elsewhere', dialect: 'chat' }))
      await store.openTurn(newTurn({ tenant, dialect: 'chat' }))
      const deletedTurn = newTurn({ tenant, dialect: 'chat' })
      await storeTurns(deletedTurn, nextTurn(deletedTurn))
      await deleteTurn(deletedTurn)
      const failed = newTurn({ tenant, dialect: 'chat' })
      await store.openTurn(failed)
      await store.closeTurn(createEnding(failed, { state: 'failed' }))
      // A turn without a content hash was recorded for recall only.
      const remembered = newTurn({ tenant, dialect: 'chat' })
      await store.openTurn(remembered)
      await store.closeTurn(createEnding(remembered))
    })

    test('listTurns lists the completed chats of the tenant in both orders', async () => {
      expect(await list()).toEqual(ids)
      expect(await list({ order: 'desc' })).toEqual(ids.toReversed())
    })

    test('listTurns returns a page that begins after the turn in `after`', async () => {
      expect(await list({ limit: 2 })).toEqual(ids.slice(0, 2))
      expect(await list({ after: ids[1] ?? '', limit: 1 })).toEqual(ids.slice(2, 3))
      expect(await list({ after: ids[1] ?? '', order: 'desc' })).toEqual(ids.slice(0, 1))
    })

    test('listTurns filters by model and by labels, which must match exactly', async () => {
      expect(await list({ model: 'other' })).toEqual(idsOf(3))
      expect(await list({ model: 'oth' })).toEqual([])
      expect(await list({ metadata: { topic: 'a' } })).toEqual(idsOf(0, 2))
      expect(await list({ metadata: { topic: 'a', x: 'y' } })).toEqual(idsOf(2))
      expect(await list({ metadata: { 'to"pic': 'a' } })).toEqual(idsOf(1))
      expect(await list({ metadata: { pic: 'a' } })).toEqual([])
      expect(await list({ metadata: { topic: '%' } })).toEqual([])
      expect(await list({ metadata: { topic: 'A' } })).toEqual([])
    })

    test('listTurns finds a turn by either name of its model, once, in pages of both orders', async () => {
      const owner = { tenant: newId(), user: 'someone' }
      const names = [
        ['a', null],
        ['a', 'a'],
        ['a', 'b'],
        ['b', 'a'],
        ['c', 'c'],
        [`${'long'.repeat(60)}1`, null],
        [`${'long'.repeat(60)}2`, null],
      ] as const
      const found = names.map(([model]) =>
        newTurn({ ...owner, dialect: 'chat', metadata: { x: 'y' }, origin: { ...ORIGIN, model } }),
      )
      for (const [at, turn] of found.entries()) {
        await store.openTurn(turn)
        await store.closeTurn(
          createEnding(turn, { contentHash: turn.id, servedModel: names[at]?.[1] ?? null }),
        )
      }
      const listModel = (model: string, page: Partial<TurnPage> = {}) =>
        list({ ...owner, model, ...page })
      const idsOfPlaces = (...places: readonly number[]) =>
        places.map((place) => found[place]?.id ?? '').toSorted()
      const ofA = idsOfPlaces(0, 1, 2, 3)
      expect(await listModel('a')).toEqual(ofA)
      expect(await listModel('a', { metadata: { x: 'y' } })).toEqual(ofA)
      expect(await listModel('a', { metadata: { x: 'z' } })).toEqual([])
      expect(await listModel('a', { limit: 2 })).toEqual(ofA.slice(0, 2))
      expect(await listModel('a', { after: ofA[1] ?? '', limit: 1 })).toEqual(ofA.slice(2, 3))
      expect(await listModel('a', { order: 'desc', limit: 3 })).toEqual(
        ofA.toReversed().slice(0, 3),
      )
      expect(await listModel('b')).toEqual(idsOfPlaces(2, 3))
      expect(await listModel(`${'long'.repeat(60)}2`)).toEqual(idsOfPlaces(6))
    })

    test('listTurns claims the memory of the output items (C158)', async () => {
      const turn = newTurn({ dialect: 'chat', tenant: newId() })
      await store.openTurn(turn)
      const items = numberItems([assistant(randomBytes(75_000).toString('base64'))])
      await store.closeTurn(createEnding(turn, { items, contentHash: turn.id }))
      const page: TurnPage = {
        tenant: turn.tenant,
        user: turn.user,
        model: null,
        metadata: {},
        after: null,
        limit: 5,
        order: 'asc',
      }
      let claimed = 0
      expect(await archive.listTurns(page, ({ bytes }) => void (claimed += bytes))).toHaveLength(1)
      expect(claimed).toBeGreaterThan(100_000)
      await expect(archive.listTurns(page, reject)).rejects.toThrow('no memory left')
    })

    test('listTurns returns the output items', async () => {
      const page = { tenant, user: null, model: 'other', metadata: {}, after: null, limit: 9 }
      const [turn] = await archive.listTurns({ ...page, order: 'asc' })
      expect(turn?.output).toMatchObject([assistant(turn?.id ?? '')])
    })
  })

  describe('look-up of items with findItems', () => {
    const call: Item = {
      type: 'function_call',
      id: newId(),
      call_id: 'c',
      name: 'f',
      arguments: '',
    }
    const idOf = (item: Item) => (item as { readonly id: string }).id

    test('findItems finds hundreds of items by id and by position in one round trip', async () => {
      const turn = newTurn({ input: [user('one'), { ...user('two'), id: newId() }] })
      await store.openTurn(turn)
      const many = Array.from({ length: 120 }, (_, at) => ({ ...assistant(`${at}`), id: newId() }))
      await store.closeTurn(
        createEnding(turn, { items: numberItems([assistant('0'), ...many, call]) }),
      )
      const { engine: watched, trips } = recordRoundTrips(engine)
      const wanted = [
        itemId('message', turn.id, 0, 'in'),
        itemId('message', turn.id, 0),
        idOf(call),
        ...many.map(({ id }) => id),
        'nothing',
        itemId('message', turn.id, 999),
      ]
      const found = await createTurnManagementStore(watched, encryption).findItems(OWNER, wanted)
      expect(trips.map(({ verb }) => verb)).toEqual(['read'])
      expect(Math.max(...(trips[0]?.queries ?? []).map((q) => q.parameters.length))).toBeLessThan(
        101,
      )
      expect(wanted.map((id) => found.get(id))).toEqual([
        user('one'),
        { ...assistant('0'), origin: ORIGIN },
        { ...call, origin: ORIGIN },
        ...many.map((item) => ({ ...item, origin: ORIGIN })),
        undefined,
        undefined,
      ])
    })

    test('findItems finds only visible items of undeleted turns of the tenant, the latest of each id', async () => {
      const id = newId()
      const early = newTurn({ id: `0${newId().slice(1)}`, input: [{ ...user('early'), id }] })
      const late = newTurn({ id: `1${newId().slice(1)}`, input: [{ ...user('late'), id }] })
      await storeTurns(late, early, nextTurn(late))
      const find = async (tenant = 'tenant') =>
        (await archive.findItems({ tenant, user: null }, [id])).get(id)
      expect(await find()).toMatchObject(user('late'))
      expect(await find('other')).toBeUndefined()
      await deleteTurn(late)
      expect(await find()).toMatchObject(user('early'))
      await engine.write([
        {
          name: null,
          sql: `update items set hidden = 1 where turn_id = '${early.id}'`,
          parameters: [],
        },
      ])
      expect(await find()).toBeUndefined()
      const hidden = await archive.findItems(OWNER, [itemId('message', early.id, 0, 'in')])
      expect(hidden.size).toBe(0)
    })

    test('findItems claims the memory of large items as often as they are requested, before it reads them (C158)', async () => {
      const large = Array.from({ length: 3 }, (_, at) => ({
        ...user(`${at} ${randomBytes(1_500_000).toString('base64')}`),
        id: newId(),
      }))
      const small = { ...user('small'), id: newId() }
      await store.openTurn(newTurn({ input: [...large, small] }))
      const ids = [...large, small].map(idOf)
      const repeated = [...ids, ...ids]
      const claimed: number[] = []
      const found = await archive.findItems(
        OWNER,
        repeated,
        ({ bytes }) => void claimed.push(bytes),
      )
      expect(ids.map((id) => found.get(id))).toEqual([...large, small])
      const size = JSON.stringify([...large, small, ...large, small]).length
      const total = claimed.reduce((sum, bytes) => sum + bytes, 0)
      expect(Math.abs(total - size)).toBeLessThan(size / 100)

      const { engine: watched, trips } = recordRoundTrips(engine)
      await expect(
        createTurnManagementStore(watched, encryption).findItems(OWNER, repeated, reject),
      ).rejects.toThrow('no memory left')
      const names = trips.flatMap(({ queries }) => queries.map(({ name }) => name))
      expect(names.filter((name) => name?.startsWith('items-by-') !== true)).toEqual([])
    })

    test('findItems claims the decompressed size of items', async () => {
      const item = { ...user('x'.repeat(1_000_000)), id: newId() }
      await store.openTurn(newTurn({ input: [item] }))
      let claimed = 0
      await archive.findItems(OWNER, [item.id, item.id], ({ bytes }) => void (claimed += bytes))
      expect(Math.abs(claimed - 2_000_000)).toBeLessThan(20_000)
    })

    test('findItems sends no query if no item is requested', async () => {
      const { engine: watched, trips } = recordRoundTrips(engine)
      expect((await createTurnManagementStore(watched, encryption).findItems(OWNER, [])).size).toBe(
        0,
      )
      expect(trips).toEqual([])
    })
  })

  describe('search for a turn with findTurnByContent', () => {
    const find = (hashes: readonly string[], tenant = 'tenant', who: string | null = null) =>
      archive.findTurnByContent({ tenant, user: who, hashes })
    const storeWithHash = async (hash: string, fields: Partial<NewTurn> = {}): Promise<NewTurn> => {
      const turn = newTurn({ digests: { tools: 'd' }, ...fields })
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { contentHash: hash }))
      return turn
    }

    test('findTurnByContent finds a turn by content hash, and prefers the first hash that a turn has', async () => {
      const [short, long] = [newId(), newId()]
      await storeWithHash(short, { depth: 7 })
      const turn = await storeWithHash(long)
      expect(await find([newId(), long, short])).toEqual({
        id: turn.id,
        thread: turn.thread,
        depth: 0,
        digests: { tools: 'd' },
        contentHash: long,
      })
    })

    test('findTurnByContent finds the turn with the preferred hash among many turns with another one', async () => {
      const [repeated, preferred] = [newId(), newId()]
      const turn = await storeWithHash(preferred, { id: `0${newId().slice(1)}` })
      await Promise.all(Array.from({ length: 70 }, () => storeWithHash(repeated)))
      expect((await find([preferred, repeated]))?.id).toBe(turn.id)
    })

    test('findTurnByContent returns the latest of several turns, and none of other owners or deleted ones', async () => {
      const hash = newId()
      const early = await storeWithHash(hash, { id: `0${newId().slice(1)}` })
      const late = await storeWithHash(hash, { id: `1${newId().slice(1)}` })
      await storeWithHash(hash, { user: 'someone', tenant: 'another' })
      expect((await find([hash]))?.id).toBe(late.id)
      await deleteTurn(late)
      expect((await find([hash]))?.id).toBe(early.id)
      expect(await find([hash], 'other')).toBeNull()
      expect(await find([hash], 'tenant', 'someone')).toBeNull()
      expect(await find([hash], 'another')).toBeNull()
      expect(await find([hash], 'another', 'someone')).not.toBeNull()
      expect(await find([])).toBeNull()
    })
  })
}
