/** What every database must do to find turns from what a client has left of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/kysely-turn-management-store.ts'
import { createRecallStore } from '../../src/store/recall/kysely-recall-store.ts'
import { createTurnStore } from '../../src/store/turns/kysely-turn-store.ts'
import {
  MAX_NAMESAKES,
  type RecallKeys,
  type RecallStore,
} from '../../src/store/recall/recall-store-interface.ts'
import type { NewTurn, TurnStore, TurnEnding } from '../../src/store/turns/turn-store-interface.ts'
import { counting } from './counting.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import type { OpenEngine } from './engines.ts'
import { assistant, ending, newId, newTurn, nextTurn, ORIGIN, placed, user } from './turns.ts'

export function recallContract(open: OpenEngine, vault: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let recall: RecallStore
  let tenant: string
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, vault)
    recall = createRecallStore(engine, vault)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    tenant = newId()
  })

  const tell = async (
    fields: Partial<NewTurn> = {},
    end: Partial<TurnEnding> = {},
  ): Promise<NewTurn> => {
    const turn = newTurn({ tenant, ...fields })
    await store.openTurn(turn)
    await store.closeTurn(ending(turn, { items: placed([assistant(turn.id)]), ...end }))
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

  describe('a search', () => {
    test('finds a turn by whichever of its keys, once, as it was recorded (C109)', async () => {
      const parent = await tell()
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
        ending(turn, {
          items: placed(items),
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

    test('finds hundreds by hundreds of keys in one round trip (C7)', async () => {
      const turns = Array.from({ length: 60 }, () => newTurn({ tenant, input: [user('?')] }))
      await Promise.all(
        turns.map(async (turn, at) => {
          await store.openTurn(turn)
          const items = placed([call(`call ${at}`), assistant(`${at}`)])
          await store.closeTurn(ending(turn, { items, fingerprint: `said ${at}` }))
        }),
      )
      const { engine: watched, trips } = counting(engine)
      const many = (text: string) => Array.from({ length: 500 }, (_, at) => `${text} ${at}`)
      const found = (
        await createRecallStore(watched, vault).findTurns(
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

    test('finds what a turn went on with that was asked nothing new, and no further', async () => {
      const asked = await tell({ input: [user('A?')] })
      const first = await tell({ parent: asked.id, input: [user('B?')] })
      const second = await tell({ parent: first.id })
      const third = await tell({ parent: second.id }, { fingerprint: 'said' })
      expect(await find({ fingerprints: ['said'] })).toEqual(idsOf(first, second, third))
      expect(await find({ turnIds: [second.id] })).toEqual(idsOf(first, second))
      expect(await find({ turnIds: [first.id] })).toEqual([first.id])
      const [found] = (await recall.findTurns(keysOf({ turnIds: [second.id] }))).turns
      expect(found?.output).toHaveLength(1)
    })

    test('but not of somebody else’s, nor in a circle for ever', async () => {
      const others = await tell({ user: 'bob' })
      const elsewhere = await tell({ tenant: newId() })
      const waiting = newTurn({ tenant, background: true })
      await store.openTurn(waiting)
      for (const parent of [others.id, elsewhere.id, waiting.id, newId()]) {
        const turn = await tell({ parent })
        expect(await find({ turnIds: [turn.id] })).toEqual([turn.id])
      }
      const [one, two] = [newId(), newId()]
      await tell({ id: one, parent: two })
      await tell({ id: two, parent: one })
      expect(await find({ turnIds: [one] })).toEqual([one, two].toSorted())
    })

    test('asks nobody if there is nothing to look for (C7)', async () => {
      const { engine: watched, trips } = counting(engine)
      expect((await createRecallStore(watched, vault).findTurns(keysOf({}))).turns).toEqual([])
      expect(trips).toEqual([])
    })

    test('finds what has broken off or still goes on, as far as it has come', async () => {
      const failed = await tell({}, { state: 'failed' })
      const cancelled = await tell({}, { state: 'cancelled' })
      const open = newTurn({ tenant })
      await store.openTurn(open)
      await store.journalItems(open.id, tenant, placed([call('c1')]))
      const turnIds = idsOf(failed, cancelled, open)
      expect(await find({ turnIds })).toEqual(turnIds)
      expect(await find({ callIds: ['c1'] })).toEqual([open.id])
    })

    test('finds none that is queued, deleted or without an answer', async () => {
      const queued = newTurn({ tenant, background: true })
      await store.openTurn(queued)
      await store.journalItems(queued.id, tenant, placed([call('c1')]))
      const unanswered = await tell({ input: [user('hello?')] }, { state: 'failed', items: [] })
      const deleted = await tell({ dialect: 'chat' }, { fingerprint: 'said' })
      await tell({ parent: deleted.id })
      await createTurnManagementStore(engine, vault).deleteTurn({
        ...deleted,
        turnId: deleted.id,
        nowMs: 1,
      })
      const turnIds = idsOf(queued, unanswered, deleted)
      expect(await find({ turnIds, callIds: ['c1'], fingerprints: ['said'] })).toEqual([])
    })

    test('leaves out what was taken out of its conversation', async () => {
      const turn = await tell(
        { conversation: 'conv_1', input: [user('a'), user('b')] },
        { items: placed([assistant('c'), assistant('d')]) },
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

    test('finds nothing of another tenant or another user, whoever knows the keys (C7, C132)', async () => {
      const end = { items: placed([call('c1')]), fingerprint: 'said' }
      const other = newId()
      const users = [null, 'ann', 'bob', '', 'null'] as const
      const turns = new Map<string, string>()
      for (const [at, owner] of [tenant, other].entries()) {
        for (const who of users) {
          const { id } = await tell({ tenant: owner, user: who }, end)
          turns.set(`${at} ${who ?? ''}`, [turns.get(`${at} ${who ?? ''}`) ?? '', id].join(' '))
        }
      }
      const all = [...turns.values()].flatMap((ids) => ids.trim().split(' '))
      for (const who of [...users, 'carol']) {
        const own = (turns.get(`0 ${who ?? ''}`) ?? '').trim().split(' ').filter(Boolean).toSorted()
        for (const keys of [{ turnIds: all }, { callIds: ['c1'] }, { fingerprints: ['said'] }]) {
          expect(await find({ user: who, ...keys })).toEqual(own)
        }
      }
      expect(await find({ tenant: newId(), turnIds: all, callIds: ['c1'] })).toEqual([])
    })

    test('takes keys of any characters for what they are', async () => {
      const quotes = ["'", '"', '"quoted"', '\\', "'; drop table turns; --", ',', '","', '[', '[]']
      const words = ['%', '_', '?', '$1', 'null', '1', '\u2028', '😀']
      const texts = [...quotes, ...words, '\0', 'a\0b', '\ud800', 'half \udc00 pair']
      const ids = await Promise.all(
        texts.map(async (text) => {
          const end = { items: placed([call(`call ${text}`)]), fingerprint: `said ${text}` }
          return (await tell({ id: `${newId()}${text}` }, end)).id
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

    test('finds of many with one call id or one fingerprint the newest of one’s own', async () => {
      const end = { items: placed([call('c0'), call('c0')]), fingerprint: 'said' }
      const turns = []
      for (let at = 0; at < MAX_NAMESAKES + 4; at += 1) {
        turns.push(await tell({ id: `${String.fromCharCode(65 + at)}${newId()}` }, end))
      }
      for (const { id } of turns) {
        await tell({ id: `Z${id}`, user: 'somebody' }, end)
        await tell({ id: `Y${id}`, tenant: newId() }, end)
      }
      const newest = idsOf(...turns.slice(4))
      expect(await find({ callIds: ['c0'] })).toEqual(newest)
      expect(await find({ fingerprints: ['said'] })).toEqual(newest)
      expect(await find({ turnIds: idsOf(...turns) })).toEqual(idsOf(...turns))
    })

    test('finds a call from before it was known whose it is', async () => {
      const turn = await tell({ user: 'ann' }, { items: placed([call('c1')]) })
      const others = await tell({ user: 'bob' }, { items: placed([call('c1')]) })
      const forget = `update items set called_for = null where tenant = '${tenant}'`
      await engine.write([{ name: null, sql: forget, parameters: [] }])
      const newer = await tell({ user: 'ann' }, { items: placed([call('c1')]) })
      expect(await find({ user: 'ann', callIds: ['c1'] })).toEqual(idsOf(turn, newer))
      expect(await find({ user: 'bob', callIds: ['c1'] })).toEqual([others.id])
    })

    test('finds one’s own call, however many others have made one with its id since', async () => {
      const end = { items: placed([call('call_0')]) }
      const own = await tell({ id: `A${newId()}`, user: 'ann' }, end)
      const others = Array.from({ length: 120 }, (_, at) => `user ${at}`)
      await Promise.all(others.map((who) => tell({ id: `B${newId()}`, user: who }, end)))
      expect(await find({ user: 'ann', callIds: ['call_0'] })).toEqual([own.id])
    })
  })

  describe('a touch', () => {
    const usedAt = async (turnId: string) =>
      (await recall.findTurns(keysOf({ turnIds: [turnId] }))).turns[0]?.usedAtMs

    test('notes of the tenant’s turns when they were needed, and never goes back', async () => {
      const [one, two] = [await tell({ createdAtMs: 5 }), await tell({ createdAtMs: 7 })]
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
