/**
 * Contract tests for the conversation store on every database: one lock holder at a time, and
 * complete deletion.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConversationStore } from '../../src/store/conversations/conversation-store-interface.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createConversationStore } from '../../src/store/conversations/sql-conversation-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type { NewTurn, TurnStore, TurnEnding } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { moveLease } from './change-database-time.ts'
import { waitUntilErased } from './wait-until-erased.ts'
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

const PLACE = { context: null, resetAfterTurnId: null }

export function testConversations(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let conversations: ConversationStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    conversations = createConversationStore(engine, encryption)
  })
  afterAll(() => engine.close())

  const create = async (first: NewTurn | null = null): Promise<string> => {
    const id = first?.conversation ?? `conv_${newId()}`
    const fields = { user: null, metadata: { a: 'ü' }, createdAtMs: 3 }
    await conversations.createConversation({ id, tenant: 'tenant', ...fields }, first)
    return id
  }
  const hold = (id: string, turnId: string) =>
    conversations.lockConversation({ ...OWNER, conversationId: id, turnId, leaseMs: 60_000 })
  const head = async (id: string) => (await conversations.findConversation(OWNER, id))?.headTurnId
  /** Opens a turn that continues a conversation and holds its lock. */
  const run = async (turn: NewTurn, fields: Partial<TurnEnding> = {}): Promise<void> => {
    await store.openTurn(turn)
    const items = numberItems([assistant(turn.id)])
    await store.closeTurn(createEnding(turn, { items, hasConversationLock: true, ...fields }))
  }
  const isStored = async ({ id }: NewTurn): Promise<boolean> => {
    const sql = `select id from turns where id = '${id}'`
    return ((await engine.read([{ name: null, sql, parameters: [] }]))[0] ?? []).length > 0
  }

  describe('the policy overrides (context) of a conversation (C35, C71)', () => {
    const context = { policy: 'lean', notes: { entries: [{ text: 'Grüezi 🦊' }] } }

    test('the context of a conversation is stored as written, and returned with the lock', async () => {
      const id = await create()
      const set = await conversations.setPolicyOverrides(OWNER, id, context)
      expect(set).toEqual(await conversations.findConversation(OWNER, id))
      expect(set?.context).toEqual(context)
      expect(await hold(id, 'A')).toEqual({ type: 'held', ...PLACE, headTurnId: null, context })
      expect((await conversations.setPolicyOverrides(OWNER, id, null))?.context).toBeNull()
    })

    test('the context of a conversation can be set when the conversation is created', async () => {
      const id = `conv_${newId()}`
      const conversation = {
        id,
        tenant: 'tenant',
        user: null,
        metadata: {},
        createdAtMs: 3,
        context,
      }
      await conversations.createConversation(conversation, null)
      expect((await conversations.findConversation(OWNER, id))?.context).toEqual(context)
    })

    test('a conversation is reset at its current head, and again at a later one', async () => {
      const first = newTurn({ conversation: `conv_${newId()}` })
      const id = await create(first)
      expect((await conversations.resetConversation(OWNER, id))?.resetAfterTurnId).toBe(first.id)
      const turn = { ...nextTurn(first), conversation: id }
      await hold(id, turn.id)
      await run(turn)
      expect(await conversations.findConversation(OWNER, id)).toMatchObject({
        headTurnId: turn.id,
        resetAfterTurnId: first.id,
      })
      expect((await conversations.resetConversation(OWNER, id))?.resetAfterTurnId).toBe(turn.id)
    })

    test('the context of a conversation cannot be changed by other owners', async () => {
      const id = await create()
      expect(await conversations.setPolicyOverrides(STRANGER, id, context)).toBeNull()
      expect(await conversations.resetConversation(STRANGER, id)).toBeNull()
      expect((await conversations.findConversation(OWNER, id))?.context).toBeNull()
    })
  })

  test('a created conversation is returned as it was stored', async () => {
    const id = await create()
    const conversation = { id, tenant: 'tenant', user: null, metadata: { a: 'ü' }, createdAtMs: 3 }
    expect(await conversations.findConversation(OWNER, id)).toEqual({
      ...conversation,
      ...PLACE,
      headTurnId: null,
    })
    expect(await conversations.findConversation(STRANGER, id)).toBeNull()
    expect(await conversations.replaceMetadata(STRANGER, id, {})).toBeNull()
    expect(await conversations.replaceMetadata(OWNER, id, { b: '1' })).toEqual({
      ...conversation,
      metadata: { b: '1' },
      ...PLACE,
      headTurnId: null,
    })
  })

  test('createConversation stores the first items as a completed turn', async () => {
    const first = newTurn({ conversation: `conv_${newId()}`, input: [user('hi')] })
    const id = await create(first)
    expect(await head(id)).toBe(first.id)
    const [turn] = (await store.loadChain(OWNER, first.id)) ?? []
    expect(turn).toMatchObject({ state: 'complete', conversation: id, input: [user('hi')] })
  })

  describe('the lock of a conversation', () => {
    test('the lock of a conversation belongs to one turn at a time, and that turn may request it again', async () => {
      const id = await create()
      expect(await hold(id, 'A')).toEqual({ type: 'held', ...PLACE, headTurnId: null })
      expect(await hold(id, 'A')).toEqual({ type: 'held', ...PLACE, headTurnId: null })
      expect(await hold(id, 'B')).toEqual({ type: 'busy' })
      await conversations.unlockConversation({ ...OWNER, conversationId: id, turnId: 'B' })
      expect(await hold(id, 'B')).toEqual({ type: 'busy' })
      await conversations.unlockConversation({ ...OWNER, conversationId: id, turnId: 'A' })
      expect(await hold(id, 'B')).toMatchObject({ type: 'held' })
    })

    test('of many concurrent requests for the lock of a conversation, one gets it', async () => {
      const id = await create()
      const held = await Promise.all(Array.from({ length: 12 }, (_, at) => hold(id, `H${at}`)))
      expect(held.filter(({ type }) => type === 'held')).toHaveLength(1)
    })

    test('the lock of a conversation expires unless it is renewed', async () => {
      const id = await create()
      await hold(id, 'A')
      const renewed = { ...OWNER, conversationId: id, turnId: 'A', leaseMs: 60_000 }
      await moveLease(engine, 'conversations', id, -50_000)
      expect(await conversations.renewLock(renewed)).toBe(true)
      await moveLease(engine, 'conversations', id, -50_000)
      expect(await hold(id, 'B')).toEqual({ type: 'busy' })
      expect(await conversations.deleteConversation(OWNER, id, 1)).toBe('busy')
      await moveLease(engine, 'conversations', id, -11_000)
      expect(await hold(id, 'B')).toMatchObject({ type: 'held' })
      expect(await conversations.renewLock(renewed)).toBe(false)
    })

    test('a lock that ends much later than a renewed one would is over, because the clock went back', async () => {
      const id = await create()
      await hold(id, 'A')
      await moveLease(engine, 'conversations', id, 15_000)
      expect(await hold(id, 'B')).toEqual({ type: 'busy' })
      await moveLease(engine, 'conversations', id, 15_000)
      expect(await hold(id, 'B')).toMatchObject({ type: 'held' })
    })

    test('a conversation cannot be locked by other owners, nor if it does not exist', async () => {
      const id = await create()
      const theirs = { ...STRANGER, conversationId: id, turnId: 'A', leaseMs: 60_000 }
      expect(await conversations.lockConversation(theirs)).toEqual({ type: 'unknown' })
      expect(await hold(`conv_${newId()}`, 'A')).toEqual({ type: 'unknown' })
    })
  })

  describe('end of a turn that has locked its conversation', () => {
    test('a successful turn that has locked its conversation becomes its head and releases the lock', async () => {
      const id = await create()
      const turn = newTurn({ conversation: id })
      await hold(id, turn.id)
      await run(turn)
      expect(await head(id)).toBe(turn.id)
      expect(await hold(id, 'B')).toEqual({ type: 'held', ...PLACE, headTurnId: turn.id })
    })

    test.each(['failed', 'cancelled'] as const)(
      'a turn that has locked its conversation does not become the head when it has %s, and releases the lock',
      async (state) => {
        const id = await create()
        const turn = newTurn({ conversation: id })
        await hold(id, turn.id)
        await run(turn, { state })
        expect(await hold(id, 'B')).toEqual({ type: 'held', ...PLACE, headTurnId: null })
      },
    )

    test('a turn that has locked its conversation does not become the head if it was cancelled before it ended', async () => {
      const id = await create()
      const turn = newTurn({ conversation: id })
      await hold(id, turn.id)
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { state: 'cancelled' }))
      await store.closeTurn(createEnding(turn, { hasConversationLock: true }))
      expect(await hold(id, 'B')).toEqual({ type: 'held', ...PLACE, headTurnId: null })
    })

    test('a turn does not become the head after it has lost the lock', async () => {
      const id = await create()
      const [slow, quick] = [newTurn({ conversation: id }), newTurn({ conversation: id })]
      await hold(id, slow.id)
      await moveLease(engine, 'conversations', id, -60_000)
      await hold(id, quick.id)
      await run(slow)
      expect(await head(id)).toBeNull()
      await run(quick)
      expect(await head(id)).toBe(quick.id)
    })
  })

  describe('items that clients add to a conversation', () => {
    test('appendItems adds items of a client if the turn has the lock of the conversation, and releases the lock', async () => {
      const id = await create()
      const turn = newTurn({ conversation: id, input: [user('a'), user('b')] })
      await hold(id, turn.id)
      expect(await conversations.appendItems(turn)).toBe(true)
      expect(await hold(id, 'B')).toEqual({ type: 'held', ...PLACE, headTurnId: turn.id })
      const late = newTurn({ conversation: id, input: [user('c')] })
      expect(await conversations.appendItems(late)).toBe(false)
      // Otherwise each attempt of the client would leave a turn that no conversation refers to.
      expect(await isStored(late)).toBe(false)
      expect(await head(id)).toBe(turn.id)
    })

    test('items of a conversation can be hidden one by one', async () => {
      const first = newTurn({ conversation: `conv_${newId()}`, input: [user('a'), user('b')] })
      await create(first)
      await conversations.hideItem(STRANGER, { turnId: first.id, side: 'in', index: 1 })
      await conversations.hideItem(OWNER, { turnId: first.id, side: 'in', index: 0 })
      await conversations.hideItem(OWNER, { turnId: first.id, side: 'out', index: 1 })
      const turn = (await store.loadChain(OWNER, first.id))?.at(-1)
      expect(turn?.input).toEqual([user('a'), user('b')])
      expect([...(turn?.hidden ?? [])]).toEqual([user('a')])
    })
  })

  describe('deletion of a conversation with deleteConversation', () => {
    const readTurns = async () => {
      const first = newTurn({ conversation: `conv_${newId()}`, input: [user('a')] })
      const id = await create(first)
      const turns = [first]
      for (let at = 0; at < 3; at++) {
        const turn = nextTurn(turns.at(-1) as NewTurn, { conversation: id })
        await hold(id, turn.id)
        await run(turn)
        turns.push(turn)
      }
      return { id, turns }
    }

    test('deleteConversation deletes all data that only the conversation used', async () => {
      const { id, turns } = await readTurns()
      const failed = nextTurn(turns[1] as NewTurn, { conversation: id })
      await run(failed, { state: 'failed' })
      expect(await conversations.deleteConversation(STRANGER, id, 9)).toBe('unknown')
      expect(await conversations.deleteConversation(OWNER, id, 9)).toBe('deleted')
      await waitUntilErased(engine)
      expect(await Promise.all([...turns, failed].map(isStored))).toEqual(Array(5).fill(false))
      expect(await conversations.findConversation(OWNER, id)).toBeNull()
      expect(await conversations.deleteConversation(OWNER, id, 9)).toBe('unknown')
    })

    test('deleteConversation keeps turns that a response outside depends on, but does not return them', async () => {
      const { id, turns } = await readTurns()
      const outside = nextTurn(turns[2] as NewTurn)
      await run(outside, { hasConversationLock: false })
      await conversations.deleteConversation(OWNER, id, 9)
      await waitUntilErased(engine)
      expect(await Promise.all(turns.map(isStored))).toEqual([true, true, true, false])
      const chain = await store.loadChain(OWNER, outside.id)
      expect(chain?.map(({ deletedAtMs }) => deletedAtMs)).toEqual([9, 9, 9, null])
      const deletion = { ...OWNER, turnId: outside.id, dialect: 'responses', nowMs: 10 }
      expect(await createTurnManagementStore(engine, encryption).deleteTurn(deletion)).toBe(
        'deleted',
      )
      expect(await Promise.all(turns.map(isStored))).toEqual(Array(4).fill(false))
    })

    test('deleteConversation refuses while a run has locked the conversation', async () => {
      const { id, turns } = await readTurns()
      await hold(id, newId())
      expect(await conversations.deleteConversation(OWNER, id, 9)).toBe('busy')
      expect(await Promise.all(turns.map(isStored))).toEqual(Array(4).fill(true))
      await moveLease(engine, 'conversations', id, -60_000)
      expect(await conversations.deleteConversation(OWNER, id, 10)).toBe('deleted')
    })

    test('deleteConversation keeps an unfinished run until it ends', async () => {
      const { id, turns } = await readTurns()
      const running = nextTurn(turns[3] as NewTurn, { conversation: id })
      await store.openTurn(running)
      expect(await conversations.deleteConversation(OWNER, id, 9)).toBe('deleted')
      expect(await isStored(running)).toBe(true)
      expect(await store.loadChain(OWNER, running.id)).toHaveLength(5)
    })
  })
}
