/** Contract tests for recall on every database: finding turns by the keys in a client's chat. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createRecallStore } from '../../src/store/recall/sql-recall-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import {
  MAX_TURNS_PER_KEY,
  type RecallKeys,
  type RecallStore,
} from '../../src/store/recall/recall-store-interface.ts'
import type { NewTurn, TurnStore, TurnEnding } from '../../src/store/turns/turn-store-interface.ts'
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
  numberItems,
  user,
} from './turns.ts'

export function testRecall(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let recall: RecallStore
  let tenant: string
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    recall = createRecallStore(engine, encryption)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    tenant = newId()
  })

  const storeTurn = async (
    fields: Partial<NewTurn> = {},
    end: Partial<TurnEnding> = {},
  ): Promise<NewTurn> => {
    const turn = newTurn({ tenant, ...fields })
    await store.openTurn(turn)
    await store.closeTurn(createEnding(turn, { items: numberItems([assistant(turn.id)]), ...end }))
    return turn
  }
  const keysOf = (keys: Partial<RecallKeys>): RecallKeys => ({
    tenant,
    user: null,
    turnIds: [],
    callIds: [],
    fingerprints: [],
    ...keys,
  })
  const find = async (keys: Partial<RecallKeys>): Promise<readonly string[]> =>
    (await recall.findTurns(keysOf(keys))).turns.map(({ id }) => id).toSorted()
  const idsOf = (...turns: readonly NewTurn[]) => turns.map(({ id }) => id).toSorted()

  test('findTurns claims the memory of large turns before it reads their items, and returns the same as for small ones (C158)', async () => {
    const large = 'x'.repeat(1_200_000)
    const turns: NewTurn[] = []
    for (let at = 0; at < 5; at++) turns.push(await storeTurn({ input: [user(`${at}${large}`)] }))
    const turnIds = turns.map(({ id }) => id)
    const keys = { tenant, user: null, turnIds, callIds: [], fingerprints: [] }
    const reject = () => {
      throw new Error('There is no memory left.')
    }
    await expect(recall.findTurns(keys, reject)).rejects.toThrow('no memory left')
    const claimed: number[] = []
    const found = await recall.findTurns(keys, ({ bytes }) => void claimed.push(bytes))
    expect(claimed.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(6_000_000)
    const inputs = new Map(found.turns.map(({ id, input, output }) => [id, { input, output }]))
    for (const { id, input } of turns)
      expect(inputs.get(id)).toMatchObject({ input, output: [assistant(id)] })
  })

  describe('search for the turns of a chat with findTurns', () => {
    test('findTurns returns a turn that any of its keys matches, once and as it was recorded (C109)', async () => {
      const parent = await storeTurn()
      const items = [
        { type: 'reasoning', id: 'rs_1', summary: [] } as unknown as Item,
        call('c1'),
        { type: 'opaque', raw: { type: 'shell_call', call_id: 'c2' } } as Item,
        assistant('done'),
      ]
      const turn = nextTurn(parent, {
        depth: 1,
        input: [output('c0'), user('go on')],
        origin: { ...ORIGIN, account: 'first asked', prefixHash: null },
      })
      await store.openTurn(turn)
      await store.closeTurn(
        createEnding(turn, {
          items: numberItems(items),
          fingerprint: 'said',
          reasoningRefusedBy: 'other',
          origin: ORIGIN,
        }),
      )
      const expected = {
        id: turn.id,
        thread: parent.id,
        parent: parent.id,
        depth: 1,
        fingerprint: 'said',
        reasoningRefusedBy: 'other',
        createdAtMs: turn.createdAtMs,
        isComplete: true,
        usedAtMs: turn.createdAtMs,
        input: turn.input,
        output: items.map((item) => ({ ...item, origin: ORIGIN })),
      }
      const keys: readonly Partial<RecallKeys>[] = [
        { turnIds: [turn.id] },
        { callIds: ['c1'] },
        { callIds: ['c2'] },
        { fingerprints: ['said'] },
        { turnIds: [turn.id, turn.id], callIds: ['c2', 'c1'], fingerprints: ['x', 'said'] },
      ]
      for (const key of keys) {
        expect((await recall.findTurns(keysOf(key))).turns).toStrictEqual([expected])
      }
      expect(await find({ callIds: ['c0'] })).toEqual([])
    })

    test('findTurns finds hundreds of turns by hundreds of keys in one round trip (C7)', async () => {
      const turns = Array.from({ length: 60 }, () => newTurn({ tenant, input: [user('?')] }))
      await Promise.all(
        turns.map(async (turn, at) => {
          await store.openTurn(turn)
          const items = numberItems([call(`call ${at}`), assistant(`${at}`)])
          await store.closeTurn(createEnding(turn, { items, fingerprint: `said ${at}` }))
        }),
      )
      const { engine: watched, trips } = recordRoundTrips(engine)
      const many = (text: string) => Array.from({ length: 500 }, (_, at) => `${text} ${at}`)
      const found = (
        await createRecallStore(watched, encryption).findTurns(
          keysOf({
            turnIds: [...many('id'), ...idsOf(...turns.slice(40))],
            callIds: many('call').slice(0, 20),
            fingerprints: many('said').slice(20),
          }),
        )
      ).turns
      expect(found.map(({ id }) => id).toSorted()).toEqual(idsOf(...turns))
      expect(found.every(({ input, output }) => input.length === 1 && output.length === 2)).toBe(
        true,
      )
      expect(trips.map(({ verb, queries }) => [verb, queries.length])).toEqual([['read', 1]])
      expect(Math.max(...(trips[0]?.queries ?? []).map((q) => q.parameters.length))).toBeLessThan(
        101,
      )
    })

    test('findTurns also returns the parent of a turn without new input, and no further ancestor', async () => {
      const asked = await storeTurn({ input: [user('A?')] })
      const first = await storeTurn({ parent: asked.id, input: [user('B?')] })
      const second = await storeTurn({ parent: first.id })
      const third = await storeTurn({ parent: second.id }, { fingerprint: 'said' })
      expect(await find({ fingerprints: ['said'] })).toEqual(idsOf(first, second, third))
      expect(await find({ turnIds: [second.id] })).toEqual(idsOf(first, second))
      expect(await find({ turnIds: [first.id] })).toEqual([first.id])
      const [found] = (await recall.findTurns(keysOf({ turnIds: [second.id] }))).turns
      expect(found?.output).toHaveLength(1)
    })

    test('findTurns does not follow parents of other owners, nor cycles without end', async () => {
      const others = await storeTurn({ user: 'bob' })
      const elsewhere = await storeTurn({ tenant: newId() })
      const waiting = newTurn({ tenant, background: true })
      await store.openTurn(waiting)
      for (const parent of [others.id, elsewhere.id, waiting.id, newId()]) {
        const turn = await storeTurn({ parent })
        expect(await find({ turnIds: [turn.id] })).toEqual([turn.id])
      }
      const [one, two] = [newId(), newId()]
      await storeTurn({ id: one, parent: two })
      await storeTurn({ id: two, parent: one })
      expect(await find({ turnIds: [one] })).toEqual([one, two].toSorted())
    })

    test('findTurns sends no query without keys (C7)', async () => {
      const { engine: watched, trips } = recordRoundTrips(engine)
      expect((await createRecallStore(watched, encryption).findTurns(keysOf({}))).turns).toEqual([])
      expect(trips).toEqual([])
    })

    test('findTurns returns failed and unfinished turns with the items they have', async () => {
      const failed = await storeTurn({}, { state: 'failed' })
      const cancelled = await storeTurn({}, { state: 'cancelled' })
      const open = newTurn({ tenant })
      await store.openTurn(open)
      await store.journalItems(open, numberItems([call('c1')]))
      const turnIds = idsOf(failed, cancelled, open)
      expect(await find({ turnIds })).toEqual(turnIds)
      expect(await find({ callIds: ['c1'] })).toEqual([open.id])
    })

    test('findTurns returns no turns that are queued, deleted or without an answer', async () => {
      const queued = newTurn({ tenant, background: true })
      await store.openTurn(queued)
      await store.journalItems(queued, numberItems([call('c1')]))
      const unanswered = await storeTurn(
        { input: [user('hello?')] },
        { state: 'failed', items: [] },
      )
      const deleted = await storeTurn({ dialect: 'chat' }, { fingerprint: 'said' })
      await storeTurn({ parent: deleted.id })
      await createTurnManagementStore(engine, encryption).deleteTurn({
        ...deleted,
        turnId: deleted.id,
        nowMs: 1,
      })
      const turnIds = idsOf(queued, unanswered, deleted)
      expect(await find({ turnIds, callIds: ['c1'], fingerprints: ['said'] })).toEqual([])
    })

    test('findTurns leaves out hidden items', async () => {
      const turn = await storeTurn(
        { conversation: 'conv_1', input: [user('a'), user('b')] },
        { items: numberItems([assistant('c'), assistant('d')]) },
      )
      const hide = (side: string, position: number) =>
        engine.write([
          {
            name: null,
            sql: `update items set hidden = 1 where turn_id = '${turn.id}'
              and side = '${side}' and position = ${position}`,
            parameters: [],
          },
        ])
      await hide('in', 0)
      await hide('out', 0)
      const [found] = (await recall.findTurns(keysOf({ turnIds: [turn.id] }))).turns
      expect(found).toMatchObject({ input: [user('b')], output: [assistant('d')] })
      await hide('out', 1)
      expect(await find({ turnIds: [turn.id] })).toEqual([])
    })

    test('findTurns returns nothing of another tenant or user, even for known keys (C7, C132)', async () => {
      const end = { items: numberItems([call('c1')]), fingerprint: 'said' }
      const other = newId()
      const users = [null, 'ann', 'bob', '', 'null'] as const
      const turns = new Map<string, string>()
      for (const [at, owner] of [tenant, other].entries()) {
        for (const who of users) {
          const { id } = await storeTurn({ tenant: owner, user: who }, end)
          turns.set(`${at} ${who ?? ''}`, [turns.get(`${at} ${who ?? ''}`) ?? '', id].join(' '))
        }
      }
      const all = [...turns.values()].flatMap((ids) => ids.trim().split(' '))
      for (const who of [...users, 'carol']) {
        const ownTurn = (turns.get(`0 ${who ?? ''}`) ?? '')
          .trim()
          .split(' ')
          .filter(Boolean)
          .toSorted()
        for (const keys of [{ turnIds: all }, { callIds: ['c1'] }, { fingerprints: ['said'] }]) {
          expect(await find({ user: who, ...keys })).toEqual(ownTurn)
        }
      }
      expect(await find({ tenant: newId(), turnIds: all, callIds: ['c1'] })).toEqual([])
    })

    test('findTurns accepts keys with any characters', async () => {
      const quotes = ["'", '"', '"quoted"', '\\', "'; drop table turns; --", ',', '","', '[', '[]']
      const words = ['%', '_', '?', '$1', 'null', '1', '\u2028', '😀']
      const texts = [...quotes, ...words, '\0', 'a\0b', '\ud800', 'half \udc00 pair']
      const ids = await Promise.all(
        texts.map(async (text) => {
          const end = { items: numberItems([call(`call ${text}`)]), fingerprint: `said ${text}` }
          return (await storeTurn({ id: `${newId()}${text}` }, end)).id
        }),
      )
      for (const [at, text] of texts.entries()) {
        const id = ids[at] ?? ''
        expect(await find({ turnIds: [id] })).toEqual([id])
        expect(await find({ callIds: [`call ${text}`] })).toEqual([id])
        expect(await find({ fingerprints: [`said ${text}`] })).toEqual([id])
      }
      expect(await find({ turnIds: texts, callIds: texts, fingerprints: texts })).toEqual([])
      expect(await find({ callIds: ['x'.repeat(100_000)], turnIds: [''] })).toEqual([])
      const all = await find({
        turnIds: [...texts, ...ids],
        callIds: texts.map((text) => `call ${text}`),
        fingerprints: texts,
      })
      expect(all).toEqual(ids.toSorted())
    })

    test('findTurns returns the latest turns of the owner for a call id or fingerprint that many share', async () => {
      const end = { items: numberItems([call('c0'), call('c0')]), fingerprint: 'said' }
      const turns = []
      for (let at = 0; at < MAX_TURNS_PER_KEY + 4; at += 1) {
        turns.push(await storeTurn({ id: `${String.fromCharCode(65 + at)}${newId()}` }, end))
      }
      for (const { id } of turns) {
        await storeTurn({ id: `Z${id}`, user: 'somebody' }, end)
        await storeTurn({ id: `Y${id}`, tenant: newId() }, end)
      }
      const newest = idsOf(...turns.slice(4))
      expect(await find({ callIds: ['c0'] })).toEqual(newest)
      expect(await find({ fingerprints: ['said'] })).toEqual(newest)
      expect(await find({ turnIds: idsOf(...turns) })).toEqual(idsOf(...turns))
    })

    test('findTurns finds calls that were stored before their owner was recorded', async () => {
      const turn = await storeTurn({ user: 'ann' }, { items: numberItems([call('c1')]) })
      const others = await storeTurn({ user: 'bob' }, { items: numberItems([call('c1')]) })
      const clearCallOwners = `update items set called_for = null where tenant = '${tenant}'`
      await engine.write([{ name: null, sql: clearCallOwners, parameters: [] }])
      const newer = await storeTurn({ user: 'ann' }, { items: numberItems([call('c1')]) })
      expect(await find({ user: 'ann', callIds: ['c1'] })).toEqual(idsOf(turn, newer))
      expect(await find({ user: 'bob', callIds: ['c1'] })).toEqual([others.id])
    })

    test('findTurns finds the call of the owner, however many others have a call with the same id', async () => {
      const end = { items: numberItems([call('call_0')]) }
      const ownTurn = await storeTurn({ id: `A${newId()}`, user: 'ann' }, end)
      const others = Array.from({ length: 120 }, (_, at) => `user ${at}`)
      await Promise.all(others.map((who) => storeTurn({ id: `B${newId()}`, user: who }, end)))
      expect(await find({ user: 'ann', callIds: ['call_0'] })).toEqual([ownTurn.id])
    })
  })

  describe('time of last use that touchTurns sets', () => {
    const usedAt = async (turnId: string) =>
      (await recall.findTurns(keysOf({ turnIds: [turnId] }))).turns[0]?.usedAtMs

    test('touchTurns updates the time of last use of the tenant’s turns, and never moves it back', async () => {
      const [one, two] = [await storeTurn({ createdAtMs: 5 }), await storeTurn({ createdAtMs: 7 })]
      expect(await usedAt(one.id)).toBe(5)
      const nowhere = Array.from({ length: 300 }, newId)
      await recall.touchTurns(tenant, [...nowhere, one.id], 10)
      expect([await usedAt(one.id), await usedAt(two.id)]).toEqual([10, 7])
      await recall.touchTurns(newId(), [one.id], 20)
      await recall.touchTurns(tenant, [one.id], 9)
      expect(await usedAt(one.id)).toBe(10)
      await recall.touchTurns(tenant, [], 30)
    })
  })
}

function call(id: string): Item {
  return { type: 'function_call', call_id: id, name: 'f', arguments: '{}' }
}

function output(id: string): Item {
  return { type: 'function_call_output', call_id: id, output: 'fog' }
}
