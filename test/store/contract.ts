/**
 * Contract tests for the turn store on every database: round trips, repeated calls and failures.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type { NewTurn, TurnStore, StoredTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import type { OpenEngine } from './engines.ts'
import { ITEMS } from './items.ts'
import { assistant, bytes, ending, newId, newTurn, ORIGIN, placed, user } from './turns.ts'

export function turnContract(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
  })
  afterAll(() => engine.close())

  const load = async (turn: NewTurn): Promise<StoredTurn | undefined> =>
    (await store.loadChain(turn, turn.id))?.at(-1)

  describe('turns are returned as they were written', () => {
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
      await store.closeTurn(ending(turn, { state: 'failed', endedAtMs: 7, usage, failure }))
      expect(await load(turn)).toMatchObject({ state: 'failed', endedAtMs: 7, usage, failure })
    })

    test('the turn store returns fields that become known during the answer', async () => {
      const turn = newTurn({ isTemporary: true, origin: { ...ORIGIN, prefixHash: null } })
      await store.openTurn(turn)
      await store.closeTurn(ending(turn, { origin: ORIGIN, reasoningRefusedBy: 'm"ain\0' }))
      expect(await load(turn)).toMatchObject({
        origin: ORIGIN,
        reasoningRefusedBy: 'm"ain\0',
        isTemporary: true,
      })
    })

    test.each(Object.entries(ITEMS))(
      'the turn store preserves every byte of %s',
      async (_, item) => {
        const turn = newTurn({ input: [item] })
        await store.openTurn(turn)
        await store.journalItems(turn.id, turn.tenant, placed([item]))
        const loaded = await load(turn)
        expect(bytes(loaded?.input ?? [])).toEqual(bytes([item]))
        expect(bytes(loaded?.output ?? [])).toEqual(bytes([item]))
      },
    )

    test('the turn store sets the origin of output items, and of no input item', async () => {
      const turn = newTurn({ input: [user('hi')] })
      await store.openTurn(turn)
      await store.closeTurn(ending(turn, { items: placed([assistant('hello')]) }))
      const loaded = await load(turn)
      expect(loaded?.input).toStrictEqual([user('hi')])
      expect(loaded?.output).toStrictEqual([{ ...assistant('hello'), origin: ORIGIN }])
    })

    test('the turn store preserves the origin of input items, and replaces that of output items by the turn’s', async () => {
      const old = { ...assistant('hello'), origin: { ...ORIGIN, account: 'other' } }
      const turn = newTurn({ input: [old] })
      await store.openTurn(turn)
      await store.journalItems(turn.id, turn.tenant, placed([old]))
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
      await store.closeTurn(ending(turn, { items: placed([...many, ...large]) }))
      const loaded = await load(turn)
      expect(loaded?.input).toEqual(many)
      expect(bytes(loaded?.output ?? [])).toEqual(bytes([...many, ...large]))
    })

    test('the turn store returns output items by position, whatever the order of writes (C23)', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      const items = placed(Array.from({ length: 15 }, (_, at) => assistant(`${at}`)))
      await store.journalItems(turn.id, turn.tenant, items.slice(9))
      await store.journalItems(turn.id, turn.tenant, items.slice(4, 9).toReversed())
      await store.closeTurn(ending(turn, { items: items.slice(0, 4) }))
      expect(bytes((await load(turn))?.output ?? [])).toEqual(bytes(items.map(({ item }) => item)))
    })
  })

  describe('repeated writes have no further effect', () => {
    test('repeated calls open a turn once', async () => {
      const turn = newTurn({ input: [user('first')] })
      await store.openTurn(turn)
      await store.openTurn(turn)
      await store.openTurn({ ...turn, request: { changed: true }, input: [user('changed')] })
      const loaded = await load(turn)
      expect(loaded?.request).toEqual({})
      expect(loaded?.input).toEqual([user('first')])
    })

    test('repeated calls leave an existing position unchanged', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      await store.journalItems(turn.id, turn.tenant, placed([assistant('a')]))
      await store.journalItems(turn.id, turn.tenant, placed([assistant('b'), assistant('c')]))
      await store.closeTurn(ending(turn, { items: placed([assistant('d'), assistant('e')]) }))
      expect(bytes((await load(turn))?.output ?? [])).toEqual(
        bytes([assistant('a'), assistant('c')]),
      )
    })

    test('repeated calls leave an ended turn unchanged and add missing items', async () => {
      const turn = newTurn()
      await store.openTurn(turn)
      const first = ending(turn, { state: 'cancelled', items: placed([assistant('a')]) })
      expect(await store.closeTurn(first)).toBe(true)
      const late = ending(turn, { endedAtMs: 1, items: placed([assistant('b'), assistant('c')]) })
      expect(await store.closeTurn(late)).toBe(false)
      await store.journalItems(turn.id, turn.tenant, placed([assistant('d')], 2))
      await store.openTurn(turn)
      const loaded = await load(turn)
      expect(loaded).toMatchObject({ state: 'cancelled', endedAtMs: 1_795_000_009_999 })
      expect(bytes(loaded?.output ?? [])).toEqual(bytes(['a', 'c', 'd'].map(assistant)))
    })

    test('repeated calls may write nothing', async () => {
      await store.journalItems(newId(), 'tenant', [])
    })
  })

  describe('failed writes are undone', () => {
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

    test('a failure of one statement undoes its batch', async () => {
      await expect(engine.write([recorded('half'), broken])).rejects.toThrow(/nowhere/)
      await expect(engine.write([broken, recorded('half')])).rejects.toThrow(/nowhere/)
      await expect(engine.write([recorded('half'), recorded('half')])).rejects.toThrow(/unique/i)
      expect(await names()).not.toContain('half')
    })

    test('a failure of one caller does not affect others', async () => {
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

    test('writes to a turn that was deleted or never opened fail', async () => {
      const turn = newTurn()
      const items: readonly Item[] = [assistant('lost')]
      await store.journalItems(turn.id, turn.tenant, placed(items))
      expect(await store.closeTurn(ending(turn, { items: placed(items) }))).toBe(false)
      expect(await store.closeTurn(ending(turn))).toBe(false)
      expect(await load(turn)).toBeUndefined()
    })
  })
}
