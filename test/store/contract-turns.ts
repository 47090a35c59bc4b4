/**
 * Contract tests for the turn store on every database: round trips, repeated calls and failures.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type { NewTurn, TurnStore, StoredTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import type { OpenEngine } from './engines.ts'
import { ITEM_SAMPLES } from './item-samples.ts'
import {
  assistant,
  serializeItems,
  createEnding,
  newTurn,
  ORIGIN,
  numberItems,
  user,
} from './turns.ts'

export function testTurns(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
  })
  afterAll(() => engine.close())

  const load = async (turn: NewTurn): Promise<StoredTurn | undefined> =>
    (await store.loadChain(turn, turn.id))?.at(-1)

  describe('writing and reading of turns', () => {
    test('the turn store returns a turn as it was opened', async () => {
      const turn = newTurn({
        user: 'someone',
        parent: 'GONE',
        request: { temperature: 0, metadata: { k: 'v' }, tools: [] },
        input: [user('hi')],
      })
      await store.openTurn(turn)
      expect(await load(turn)).toStrictEqual({
        ...turn,
        state: 'open',
        digests: {},
        metadata: null,
        deletedAtMs: null,
        endedAtMs: null,
        usage: null,
        failure: null,
        finish: null,
        servedModel: null,
        contentHash: null,
        reasoningRefusedBy: null,
        usedAtMs: turn.createdAtMs,
        isTemporary: false,
        output: [],
        hidden: new Set(),
      })
    })

    test('an amended item replaces a journaled one when its turn is closed, and none of a turn that has ended', async () => {
      const turn = newTurn()
      const reasoning = {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
      } as const
      const amended = { ...reasoning, encrypted_content: 'gAAAA' }
      await store.openTurn(turn)
      await store.journalItems(turn, numberItems([reasoning]))
      const items = numberItems([assistant('So.')], 1)
      const amendedItems = numberItems([amended])
      expect(await store.closeTurn(createEnding(turn, { items, amendedItems }))).toBe(true)
      expect(serializeItems((await load(turn))?.output ?? [])).toEqual(
        serializeItems([amended, assistant('So.')]),
      )
      const again = numberItems([{ ...amended, encrypted_content: 'later' }])
      expect(await store.closeTurn(createEnding(turn, { amendedItems: again }))).toBe(false)
      expect((await load(turn))?.output[0]).toMatchObject({ encrypted_content: 'gAAAA' })
    })

    test('the turn store returns how a turn ended', async () => {
      const usage = {
        inputTokens: 12,
        cachedTokens: 0,
        cacheWriteTokens: null,
        outputTokens: 5_000_000_000,
        reasoningTokens: null,
        totalTokens: 17,
      }
      const failure = {
        status: 502,
        type: 'server_error',
        code: null,
        message: 'It broke.',
        param: null,
      }
      const turn = newTurn()
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { state: 'failed', endedAtMs: 7, usage, failure }))
      expect(await load(turn)).toMatchObject({ state: 'failed', endedAtMs: 7, usage, failure })
    })

    test('the turn store returns fields that become known during the answer', async () => {
      const turn = newTurn({ isTemporary: true, origin: { ...ORIGIN, prefixHash: null } })
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { origin: ORIGIN, reasoningRefusedBy: 'm"ain\0' }))
      expect(await load(turn)).toMatchObject({
        origin: ORIGIN,
        reasoningRefusedBy: 'm"ain\0',
        isTemporary: true,
      })
    })

    test.each(Object.entries(ITEM_SAMPLES))(
      'the turn store preserves every byte of %s',
      async (_, item) => {
        const turn = newTurn({ input: [item] })
        await store.openTurn(turn)
        await store.journalItems(turn, numberItems([item]))
        const loaded = await load(turn)
        expect(serializeItems(loaded?.input ?? [])).toEqual(serializeItems([item]))
        expect(serializeItems(loaded?.output ?? [])).toEqual(serializeItems([item]))
      },
    )

    test('the turn store sets the origin of output items, and of no input item', async () => {
      const turn = newTurn({ input: [user('hi')] })
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { items: numberItems([assistant('hello')]) }))
      const loaded = await load(turn)
      expect(loaded?.input).toStrictEqual([user('hi')])
      expect(loaded?.output).toStrictEqual([{ ...assistant('hello'), origin: ORIGIN }])
    })

    test('the turn store preserves the origin of input items, and replaces that of output items by the turn’s', async () => {
      const old = { ...assistant('hello'), origin: { ...ORIGIN, account: 'other' } }
      const turn = newTurn({ input: [old] })
      await store.openTurn(turn)
      await store.journalItems(turn, numberItems([old]))
      const loaded = await load(turn)
      expect(loaded?.input).toStrictEqual([old])
      expect(loaded?.output[0]?.origin).toEqual(ORIGIN)
    })

    test('the turn store preserves text that a database would reject, change or confuse (C19)', async () => {
      for (const text of ['a\0b', 'half \ud800 pair', '"quoted"', '"', '', '\\u0000', "'; --"]) {
        const turn = newTurn({
          user: text,
          origin: { ...ORIGIN, account: text, model: text },
          input: [{ type: 'function_call', call_id: text, id: text, name: text, arguments: text }],
        })
        await store.openTurn(turn)
        expect(await load(turn)).toMatchObject({ ...turn })
      }
    })

    test('the turn store preserves hundreds of items in their order, and large ones', async () => {
      const many = Array.from({ length: 333 }, (_, at) => user(`${at}`))
      const turn = newTurn({ input: many })
      await store.openTurn(turn)
      const large = [assistant('x'.repeat(1_000_000)), assistant('é'.repeat(300_000))]
      await store.closeTurn(createEnding(turn, { items: numberItems([...many, ...large]) }))
      const loaded = await load(turn)
      expect(loaded?.input).toEqual(many)
      expect(serializeItems(loaded?.output ?? [])).toEqual(serializeItems([...many, ...large]))
    })

    test('the turn store returns output items by position, whatever the order of writes (C23)', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      const items = numberItems(Array.from({ length: 15 }, (_, at) => assistant(`${at}`)))
      await store.journalItems(turn, items.slice(9))
      await store.journalItems(turn, items.slice(4, 9).toReversed())
      await store.closeTurn(createEnding(turn, { items: items.slice(0, 4) }))
      expect(serializeItems((await load(turn))?.output ?? [])).toEqual(
        serializeItems(items.map(({ item }) => item)),
      )
    })
  })

  describe('repeated writes of a turn', () => {
    test('opening a turn again has no effect', async () => {
      const turn = newTurn({ input: [user('first')] })
      await store.openTurn(turn)
      await store.openTurn(turn)
      await store.openTurn({ ...turn, request: { changed: true }, input: [user('changed')] })
      const loaded = await load(turn)
      expect(loaded?.request).toEqual({})
      expect(loaded?.input).toEqual([user('first')])
    })

    test('journaling an item again leaves the stored item unchanged', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      await store.journalItems(turn, numberItems([assistant('a')]))
      await store.journalItems(turn, numberItems([assistant('b'), assistant('c')]))
      await store.closeTurn(
        createEnding(turn, { items: numberItems([assistant('d'), assistant('e')]) }),
      )
      expect(serializeItems((await load(turn))?.output ?? [])).toEqual(
        serializeItems([assistant('a'), assistant('c')]),
      )
    })

    test('closing a turn again leaves its end unchanged and adds missing items', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      const first = createEnding(turn, { state: 'cancelled', items: numberItems([assistant('a')]) })
      expect(await store.closeTurn(first)).toBe(true)
      const late = createEnding(turn, {
        endedAtMs: 1,
        items: numberItems([assistant('b'), assistant('c')]),
      })
      expect(await store.closeTurn(late)).toBe(false)
      await store.journalItems(turn, numberItems([assistant('d')], 2))
      await store.openTurn(turn)
      const loaded = await load(turn)
      expect(loaded).toMatchObject({ state: 'cancelled', endedAtMs: 1_795_000_009_999 })
      expect(serializeItems(loaded?.output ?? [])).toEqual(
        serializeItems(['a', 'c', 'd'].map(assistant)),
      )
    })

    test('journaling an empty list of items writes nothing', async () => {
      await store.journalItems(newTurn(), [])
    })
  })

  describe('failed writes of turns', () => {
    const broken: SqlQuery = { name: null, sql: 'insert into nowhere values (1)', parameters: [] }
    const recorded = (name: string): SqlQuery => ({
      name: null,
      sql: `insert into migrations (name) values ('${name}')`,
      parameters: [],
    })
    const names = async (): Promise<readonly string[]> => {
      const [rows = []] = await engine.read([
        { name: null, sql: 'select name from migrations', parameters: [] },
      ])
      return (rows as readonly { readonly name: string }[]).map(({ name }) => name)
    }

    test('a batch is undone if one of its statements fails', async () => {
      await expect(engine.write([recorded('half'), broken])).rejects.toThrow(/nowhere/)
      await expect(engine.write([broken, recorded('half')])).rejects.toThrow(/nowhere/)
      await expect(engine.write([recorded('half'), recorded('half')])).rejects.toThrow(/unique/i)
      expect(await names()).not.toContain('half')
    })

    test('a failed write of one caller does not affect other callers', async () => {
      const turns = Array.from({ length: 20 }, () => newTurn({ input: [user('hi')] }))
      const settled = await Promise.allSettled(
        turns.flatMap((turn) => [
          store.openTurn(turn),
          engine.write([recorded(`not-${turn.id}`), broken]),
        ]),
      )
      expect(settled.map(({ status }) => status)).toEqual(
        turns.flatMap(() => ['fulfilled', 'rejected']),
      )
      for (const turn of turns) expect((await load(turn))?.input).toHaveLength(1)
      expect((await names()).filter((name) => name.startsWith('not-'))).toEqual([])
    })

    test('journaling or closing a turn that does not exist writes nothing', async () => {
      const turn = newTurn()
      const items: readonly Item[] = [assistant('lost')]
      await store.journalItems(turn, numberItems(items))
      expect(await store.closeTurn(createEnding(turn, { items: numberItems(items) }))).toBe(false)
      expect(await store.closeTurn(createEnding(turn))).toBe(false)
      expect(await load(turn)).toBeUndefined()
    })
  })
}
