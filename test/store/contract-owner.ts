/** Contract tests for owners on every database: a user finds only their own data. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemId } from '../../src/core/turn-derived-ids.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import { createStores, type Stores } from '../../src/store/create-stores.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import { newSummary } from './contract-summaries.ts'
import type { OpenEngine } from './engines.ts'
import { assistant, createEnding, newId, newTurn, nextTurn, numberItems, user } from './turns.ts'

const TENANT = 'shared'
const ALICE: Caller = { tenant: TENANT, user: 'alice' }
const OTHERS: readonly (readonly [string, Caller])[] = [
  ['another user', { tenant: TENANT, user: 'bob' }],
  ['a caller without a user', { tenant: TENANT, user: null }],
  ['a user of another tenant with the same name', { tenant: 'elsewhere', user: 'alice' }],
]
const NOW = 1_795_000_000_000

export function testOwners(open: OpenEngine): void {
  let engine: Engine
  let stores: Stores
  beforeAll(async () => {
    engine = await open()
    stores = createStores(engine)
  })
  afterAll(() => engine.close())

  const storeTurn = async (fields: Partial<NewTurn> = {}, before: NewTurn | null = null) => {
    const own = { ...ALICE, input: [user('q')], ...fields }
    const turn = before === null ? newTurn(own) : nextTurn(before, own)
    await stores.store.openTurn(turn)
    const items = numberItems([assistant('a')])
    await stores.store.closeTurn(createEnding(turn, { items, contentHash: turn.id }))
    return turn
  }
  const pageOf = (owner: Caller) =>
    ({ ...owner, model: null, metadata: {}, after: null, limit: 100, order: 'asc' }) as const
  const listed = async (owner: Caller) =>
    (await stores.archive.listTurns(pageOf(owner))).map(({ id }) => id)
  const conversation = async () => {
    const id = `conv_${newId()}`
    const first = newTurn({ ...ALICE, conversation: id, input: [user('q')] })
    const conversation = { ...ALICE, id, metadata: {}, createdAtMs: 1 }
    await stores.conversations.createConversation(conversation, first)
    return { id, first }
  }

  describe.each(OTHERS)('data of another owner is not accessible for %s', (_, other) => {
    test('for another owner a turn is not found', async () => {
      const { store, archive } = stores
      const turn = await storeTurn({ dialect: 'chat' })
      const turnKey = { ...other, turnId: turn.id, dialect: 'chat' }
      expect(await store.loadChain(other, turn.id)).toBeNull()
      expect(await archive.loadTurn(other, turn.id)).toBeNull()
      expect(await listed(other)).not.toContain(turn.id)
      expect(await archive.replaceMetadata({ ...turnKey, metadata: { a: '1' } })).toBe(false)
      expect(await archive.deleteTurn({ ...turnKey, nowMs: NOW })).toBe('unknown')
      expect(await archive.loadTurn(ALICE, turn.id)).toMatchObject({
        ...ALICE,
        metadata: null,
        deletedAtMs: null,
      })
      expect(await listed(ALICE)).toContain(turn.id)
    })

    test('for another owner an item is not found by its id or position', async () => {
      const id = `msg_${newId()}`
      const turn = await storeTurn({ input: [{ ...user('q'), id }] })
      const ids = [id, itemId('message', turn.id, 0, 'in'), itemId('message', turn.id, 0, 'out')]
      expect((await stores.archive.findItems(other, ids)).size).toBe(0)
      expect([...(await stores.archive.findItems(ALICE, ids)).keys()]).toEqual(ids)
      await storeTurn({ ...other, input: [{ ...user('another'), id }] })
      expect((await stores.archive.findItems(ALICE, [id])).get(id)).toMatchObject(user('q'))
    })

    test('for another owner a chain starts after the turn of another user', async () => {
      const alices = await storeTurn()
      const others = await storeTurn({ ...other }, alices)
      const chain = await stores.store.loadChain(other, others.id)
      expect(chain?.map(({ id }) => id)).toEqual([others.id])
    })

    test('for another owner a conversation is not found, and cannot be locked, changed or deleted', async () => {
      const { conversations, store, archive } = stores
      const { id, first } = await conversation()
      const hold = { ...other, conversationId: id, turnId: newId(), leaseMs: 60_000 }
      expect(await conversations.findConversation(other, id)).toBeNull()
      expect(await conversations.replaceMetadata(other, id, { a: '1' })).toBeNull()
      expect(await conversations.lockConversation(hold)).toEqual({ type: 'unknown' })
      expect(await conversations.deleteConversation(other, id, NOW)).toBe('unknown')
      await conversations.hideItem(other, { turnId: first.id, side: 'in', index: 0 })
      expect((await store.loadChain(ALICE, first.id))?.[0]?.hidden.size).toBe(0)
      expect((await archive.loadTurn(ALICE, first.id))?.deletedAtMs).toBeNull()
      expect(await conversations.findConversation(ALICE, id)).toMatchObject({
        metadata: {},
        headTurnId: first.id,
      })
    })

    test('for another owner the context of a conversation cannot be changed or reset', async () => {
      const { conversations } = stores
      const { id, first } = await conversation()
      expect(await conversations.setPolicyOverrides(other, id, { policy: 'lean' })).toBeNull()
      expect(await conversations.resetConversation(other, id)).toBeNull()
      const findAll = await conversations.findConversation(ALICE, id)
      expect(findAll).toMatchObject({ context: null, resetAfterTurnId: null })
      await conversations.resetConversation(ALICE, id)
      expect(await conversations.setPolicyOverrides(ALICE, id, { policy: 'lean' })).toMatchObject({
        context: { policy: 'lean' },
        resetAfterTurnId: first.id,
      })
    })

    test('for another owner requests, summaries and fetched media are not found', async () => {
      const { requests, summaries, media } = stores
      const turn = await storeTurn()
      const sent = { body: '{"a":1}', items: '[]', about: '{}' }
      await requests.saveRequests(ALICE, turn.id, async () => ({
        requests: [sent],
        baseTurnId: null,
      }))
      const summary = newSummary({ ...ALICE, turnId: turn.id })
      await summaries.saveSummary(summary)
      const url = `https://a.example/${turn.id}.png`
      const medium = { type: 'image/png', base64: 'QUJD' }
      await media.saveMedium({ ...ALICE, thread: turn.thread }, url, medium, NOW)
      const wanted = { urls: [url], fitsInMemory: () => true, nowMs: NOW }
      /** A new set of stores has empty caches. */
      const findAll = async (who: Caller) => [
        await requests.loadRequest(who, turn.id),
        await createStores(engine).requests.loadRequest(who, turn.id),
        (await summaries.findSummaries(who, [summary.prefixHash], 1))[0]?.text ?? null,
        (await media.findMedia(who, wanted)).get(url) ?? null,
      ]
      expect(await summaries.deleteSummary(other, summary.id)).toBe(false)
      expect(await findAll(other)).toEqual([null, null, null, null])
      const alone = { ...sent, round: 0, roundCount: 1 }
      expect(await findAll(ALICE)).toEqual([alone, alone, summary.text, medium])
    })

    test('for another owner a lock cannot be renewed or released', async () => {
      const { conversations } = stores
      const { id } = await conversation()
      const hold = { conversationId: id, turnId: newId(), leaseMs: 60_000 }
      expect(await conversations.lockConversation({ ...ALICE, ...hold })).toMatchObject({
        type: 'held',
      })
      expect(await conversations.renewLock({ ...other, ...hold })).toBe(false)
      await conversations.unlockConversation({ ...other, ...hold })
      const second = { ...ALICE, ...hold, turnId: newId() }
      expect(await conversations.lockConversation(second)).toEqual({ type: 'busy' })
      await conversations.unlockConversation({ ...ALICE, ...hold })
      expect(await conversations.lockConversation(second)).toMatchObject({ type: 'held' })
    })

    test('for another owner a run has no log', async () => {
      const turn = newTurn({ ...ALICE, background: true, replicaId: 'R1' })
      await stores.runs.openRun(turn, { first: 0, last: 0, text: 'x' })
      expect(await stores.runs.readLog(other, turn.id, 0)).toBeNull()
      const log = await stores.runs.readLog(ALICE, turn.id, 0)
      expect(log).toMatchObject({ ...ALICE, groups: [{ text: 'x' }] })
    })
  })

  test('data that was stored without a user is not found by a user', async () => {
    const turn = await storeTurn({ user: null, dialect: 'chat' })
    expect(await stores.store.loadChain(ALICE, turn.id)).toBeNull()
    expect(await listed(ALICE)).not.toContain(turn.id)
    expect(await stores.store.loadChain({ ...ALICE, user: null }, turn.id)).toHaveLength(1)
  })

  test('an orphaned run is returned with its user', async () => {
    for (const who of ['al"ice\0', null]) {
      const turn = newTurn({ tenant: newId(), user: who, background: true, replicaId: newId() })
      await stores.runs.openRun(turn, null)
      const { id: turnId, tenant, replicaId } = turn
      const orphans = await stores.runs.findOrphanedRuns('')
      expect(orphans).toContainEqual({ turnId, tenant, user: who, replicaId })
    }
  })
}
