/** Contract tests for expiry and deletion on every database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConversationStore } from '../../src/store/conversations/conversation-store-interface.ts'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createConversationStore } from '../../src/store/conversations/sql-conversation-store.ts'
import { createExpiryAndDeletionStore } from '../../src/store/deletion/sql-expiry-and-deletion-store.ts'
import { createRecallStore } from '../../src/store/recall/sql-recall-store.ts'
import { createRunStore } from '../../src/store/background-runs/sql-run-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type {
  ExpiryPageRequest,
  ExpiryCursor,
  ExpiryAndDeletionStore,
} from '../../src/store/deletion/expiry-and-deletion-store-interface.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { waitUntilErased } from './wait-until-erased.ts'
import { moveLease } from './change-database-time.ts'
import type { OpenEngine } from './engines.ts'
import { assistant, createEnding, newId, newTurn, nextTurn, numberItems, user } from './turns.ts'

export function testExpiryAndDeletion(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let deletion: ExpiryAndDeletionStore
  let conversations: ConversationStore
  let tenant: string
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    deletion = createExpiryAndDeletionStore(engine)
    conversations = createConversationStore(engine, encryption)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    tenant = newId()
  })

  const query = (sql: string): SqlQuery => ({ name: null, sql, parameters: [] })
  const storeTurn = async (turn: NewTurn): Promise<NewTurn> => {
    await store.openTurn({ ...turn, input: [user('?')] })
    await store.closeTurn(createEnding(turn, { items: numberItems([assistant(turn.id)]) }))
    await engine.write([
      query(`insert into stream_events (turn_id, first_number, last_number, tenant, text)
        values ('${turn.id}', 0, 1, '${turn.tenant}', 'x')`),
    ])
    return turn
  }
  const storeNewTurn = (fields: Partial<NewTurn> = {}) => storeTurn(newTurn({ tenant, ...fields }))
  const storeNextTurn = (parent: NewTurn, fields: Partial<NewTurn> = {}) =>
    storeTurn(nextTurn(parent, { createdAtMs: parent.createdAtMs, ...fields }))
  const createConversation = (
    id: string,
    who: string | null = null,
    turn: NewTurn | null = null,
  ) => {
    const conversation = { id, tenant, user: who, metadata: {}, createdAtMs: 1 }
    return conversations.createConversation(conversation, turn)
  }

  /**
   * Returns those of the turns that exist, and checks that items and events exist for exactly
   * these.
   */
  const findRemaining = async (...turns: readonly NewTurn[]): Promise<readonly NewTurn[]> => {
    const list = turns.map(({ id }) => `'${id}'`).join()
    const rows = await engine.read([
      query(`select id from turns where id in (${list})`),
      query(`select distinct turn_id as id from items where turn_id in (${list})`),
      query(`select turn_id as id from stream_events where turn_id in (${list})`),
    ])
    const [ids = [], ...others] = rows.map((some) =>
      some.map((row) => (row as { readonly id: string }).id).toSorted(),
    )
    for (const other of others) expect(other).toEqual(ids)
    return turns.filter(({ id }) => ids.includes(id))
  }

  describe('deletion of unused turns with expireTurns', () => {
    /**
     * Deletes page by page everything that was last used before the given time, which no other test
     * uses.
     */
    const expire = async (
      before: number,
      fields: Partial<ExpiryPageRequest> = {},
    ): Promise<number> => {
      const page = { chats: 'all', unusedSinceMs: before, nowMs: 1_000_000, limit: 100 } as const
      let removed = 0
      let after: ExpiryCursor | null = null
      let rounds = 0
      do {
        const expired = await deletion.expireTurns({ ...page, after, ...fields })
        removed += expired.deletedCount
        after = expired.next
        rounds += 1
      } while (after !== null && rounds < 50)
      expect(after).toBeNull()
      return removed
    }

    test('expireTurns deletes turns that were not used since `unusedSinceMs`, and keeps the others', async () => {
      const [old, keptTurns, touched] = [
        await storeNewTurn({ createdAtMs: 9 }),
        await storeNewTurn({ createdAtMs: 10 }),
        await storeNewTurn({ createdAtMs: 1 }),
      ]
      await createRecallStore(engine).touchTurns(tenant, [touched.id], 50)
      expect(await expire(10)).toBe(1)
      expect(await findRemaining(old, keptTurns, touched)).toEqual([keptTurns, touched])
      expect(await expire(10)).toBe(0)
      expect(await expire(51)).toBe(2)
    })

    test('expireTurns keeps a turn as long as later turns depend on it, and deletes it with the last of those', async () => {
      const root = await storeNewTurn({ createdAtMs: 1 })
      const middle = await storeNextTurn(root)
      const [short, long] = [await storeNextTurn(middle), await storeNextTurn(middle)]
      const leaf = await storeNextTurn(long, { createdAtMs: 20 })
      expect(await expire(10)).toBe(1)
      expect(await findRemaining(root, middle, short, long, leaf)).toEqual([
        root,
        middle,
        long,
        leaf,
      ])
      expect(await expire(21)).toBe(4)
      expect(await findRemaining(root, middle, short, long, leaf)).toEqual([])
    })

    test('expireTurns never deletes a parent before its children when a page is limited', async () => {
      const chain = [await storeNewTurn({ createdAtMs: 1 })]
      for (let createdAtMs = 2; createdAtMs < 8; createdAtMs += 1) {
        chain.push(await storeNextTurn(chain.at(-1) as NewTurn, { createdAtMs }))
      }
      const page = { chats: 'all', unusedSinceMs: 9, nowMs: 9, limit: 3 } as const
      const first = await deletion.expireTurns({ ...page, after: null })
      expect(first.deletedCount).toBe(3)
      expect(await findRemaining(...chain)).toEqual(chain.slice(0, 4))
      const second = await deletion.expireTurns({ ...page, after: first.next })
      expect(second.deletedCount).toBe(3)
      expect(await findRemaining(...chain)).toEqual(chain.slice(0, 1))
      expect(await expire(9)).toBe(1)
    })

    test('expireTurns finds expired turns after any number of turns that it must keep', async () => {
      const held = await Promise.all(
        Array.from({ length: 7 }, () =>
          storeNewTurn({ createdAtMs: 5, conversation: `conv_${tenant}` }),
        ),
      )
      const free = await storeNewTurn({ createdAtMs: 1 })
      await createConversation(`conv_${tenant}`)
      expect(await expire(10, { limit: 2 })).toBe(1)
      expect(await findRemaining(...held, free)).toEqual(held)
      await conversations.deleteConversation({ tenant, user: null }, `conv_${tenant}`, 1)
      await waitUntilErased(engine)
      expect(await findRemaining(...held)).toEqual([])
    })

    test('expireTurns keeps the turns and the head of a conversation that still exists', async () => {
      const first = newTurn({ tenant, createdAtMs: 1, conversation: `conv_${tenant}` })
      await createConversation(`conv_${tenant}`, null, first)
      const head = await storeNewTurn({ createdAtMs: 1 })
      await createConversation(`conv_h${tenant}`)
      await engine.write([
        query(`update conversations set head = '${head.id}' where id = 'conv_h${tenant}'`),
      ])
      const unusedTurn = await storeNewTurn({ createdAtMs: 1, conversation: 'conv_that_is_gone' })
      expect(await expire(10)).toBe(1)
      expect(await findRemaining(head, unusedTurn)).toEqual([head])
      expect(await store.loadChain({ tenant, user: null }, first.id)).toHaveLength(1)
      await conversations.deleteConversation({ tenant, user: null }, `conv_h${tenant}`, 1)
      expect(await expire(10)).toBe(1)
    })

    test('expireTurns keeps a run that a live replica works on', async () => {
      const [alive, dead] = [newId(), newId()]
      const runs = createRunStore(engine, encryption)
      await runs.renewReplica(alive, 60_000, 0)
      await runs.renewReplica(dead, 60_000, 0)
      await moveLease(engine, 'replicas', dead, -60_000)
      const turns = [alive, dead, null].map((owner) =>
        newTurn({ tenant, replicaId: owner, createdAtMs: 1 }),
      )
      for (const turn of turns) await store.openTurn(turn)
      expect(await expire(10)).toBe(2)
      const chains = turns.map(({ id }) => store.loadChain({ tenant, user: null }, id))
      expect((await Promise.all(chains)).map((chain) => chain === null)).toEqual([
        false,
        true,
        true,
      ])
      await moveLease(engine, 'replicas', alive, -60_000)
      expect(await expire(10)).toBe(1)
    })

    test('expireTurns can be limited to temporary turns', async () => {
      const keptTurns = await storeNewTurn({ createdAtMs: 1 })
      const below = await storeNextTurn(keptTurns, { isTemporary: true })
      const above = await storeNextTurn(below, { isTemporary: true })
      const under = await storeNewTurn({ createdAtMs: 1, isTemporary: true })
      const stands = await storeNextTurn(under)
      expect(await expire(10, { chats: 'temporary' })).toBe(2)
      expect(await findRemaining(keptTurns, below, above, under, stands)).toEqual([
        keptTurns,
        under,
        stands,
      ])
      expect(await expire(10)).toBe(3)
    })

    test('expireTurns also deletes a turn that is marked as deleted once no turn depends on it', async () => {
      const first = await storeNewTurn({ createdAtMs: 30 })
      const second = await storeNextTurn(first, { createdAtMs: 1 })
      const archive = createTurnManagementStore(engine, encryption)
      await archive.deleteTurn({ ...first, turnId: first.id, nowMs: 5 })
      await engine.write([
        query(`insert into stream_events (turn_id, first_number, last_number, tenant, text)
          values ('${first.id}', 0, 1, '${tenant}', 'x')`),
      ])
      expect(await expire(10)).toBe(2)
      expect(await findRemaining(first, second)).toEqual([])
    })
  })

  describe('deletion of a thread with deleteThread', () => {
    const deleteThread = (turn: NewTurn, who: string | null = null) =>
      deletion.deleteThread({ tenant, user: who, turnId: turn.id, nowMs: 1 })

    test('deleteThread deletes all turns of the thread, whichever of them is named, and no others', async () => {
      const root = await storeNewTurn()
      const [one, two] = [await storeNextTurn(root), await storeNextTurn(root)]
      const other = await storeNewTurn()
      expect(await deleteThread(two)).toBe(3)
      expect(await findRemaining(root, one, two, other)).toEqual([other])
      expect(await deleteThread(two)).toBe(0)
      expect(await deleteThread(newTurn())).toBe(0)
    })

    test('deleteThread deletes only turns of the tenant and, for a user, only their own', async () => {
      const mine = await storeNewTurn({ user: 'ann' })
      const theirs = await storeNextTurn(mine, { user: 'bob' })
      const nobodys = await storeNextTurn(theirs)
      expect(
        await deletion.deleteThread({ tenant: newId(), user: null, turnId: mine.id, nowMs: 1 }),
      ).toBe(0)
      expect(await deleteThread(mine, 'bob')).toBe(0)
      expect(await deleteThread(nobodys, 'ann')).toBe(0)
      expect(await deleteThread(mine, '')).toBe(0)
      expect(await deleteThread(mine, 'ann')).toBe(1)
      expect(await findRemaining(mine, theirs, nobodys)).toEqual([theirs, nobodys])
      expect(await deleteThread(theirs)).toBe(2)
    })

    test('deleteThread deletes running turns, and no later write restores them', async () => {
      const runs = createRunStore(engine, encryption)
      const plain = newTurn({ tenant, replicaId: 'r' })
      const run = nextTurn(plain, { background: true, replicaId: 'r' })
      await store.openTurn(plain)
      await store.journalItems(plain, numberItems([assistant('a')]))
      await runs.openRun(run, { first: 0, last: 0, text: 'x' })
      expect(await deleteThread(run)).toBe(2)
      const hold = { turnId: run.id, tenant, user: null, replicaId: 'r' }
      const events = { first: 1, last: 1, text: 'y' }
      const items = numberItems([assistant('late')])
      await store.journalItems(plain, items)
      expect(await store.closeTurn(createEnding(plain, { items }))).toBe(false)
      expect(await runs.startRun(hold)).toBe(false)
      expect(await runs.recordRun(hold, events, items)).toBe(false)
      expect(await runs.endRun(hold, createEnding(run, { items }), events)).toBe(false)
      expect(await findRemaining(plain, run)).toEqual([])
    })

    test("deleteThread leaves the thread's conversation empty and unlocked", async () => {
      const id = `conv_${tenant}`
      await createConversation(id)
      const first = newTurn({ tenant, conversation: id })
      const hold = {
        tenant,
        user: null,
        conversationId: id,
        turnId: first.id,
        leaseMs: 60_000,
      }
      await conversations.lockConversation(hold)
      await store.openTurn(first)
      await store.closeTurn(createEnding(first, { hasConversationLock: true }))
      const second = nextTurn(first, { conversation: id })
      await conversations.lockConversation({ ...hold, turnId: second.id })
      await store.openTurn(second)
      expect(await deleteThread(first)).toBe(2)
      const third = { ...hold, turnId: newId() }
      expect(await conversations.lockConversation(third)).toMatchObject({
        type: 'held',
        headTurnId: null,
      })
    })

    test('deleteThread keeps the head of a conversation that continues in another thread', async () => {
      const id = `conv_${tenant}`
      const start = newTurn({ tenant, conversation: id })
      await createConversation(id, null, start)
      const failed = await storeNewTurn({ conversation: id })
      expect(await deleteThread(failed)).toBe(1)
      expect(await conversations.findConversation({ tenant, user: null }, id)).toMatchObject({
        headTurnId: start.id,
      })
    })
  })

  describe("deletion of a user's data with deleteUser", () => {
    test('deleteUser deletes turns, conversations and events of the user in this tenant at once', async () => {
      const other = newId()
      const turn = await storeNewTurn({ user: "o'ann\0" })
      const next = await storeNextTurn(turn, { user: "o'ann\0" })
      const alone = await storeNewTurn({ user: "o'ann\0" })
      const running = newTurn({ tenant, user: "o'ann\0" })
      await store.openTurn(running)
      const keptTurns = [
        await storeNextTurn(next, { user: 'bob' }),
        await storeNewTurn(),
        await storeNewTurn({ tenant: other, user: "o'ann\0" }),
      ]
      await createConversation(`conv_a${tenant}`, "o'ann\0")
      await createConversation(`conv_b${tenant}`, 'bob')
      expect(await deletion.deleteUser(tenant, "o'ann\0", 1)).toBe(4)
      expect(await findRemaining(turn, next, alone, ...keptTurns)).toEqual(keptTurns)
      expect(await store.loadChain(running, running.id)).toBeNull()
      expect(await store.loadChain({ tenant, user: 'bob' }, keptTurns[0]?.id ?? '')).toHaveLength(1)
      expect(
        await conversations.findConversation({ tenant, user: "o'ann\0" }, `conv_a${tenant}`),
      ).toBeNull()
      expect(
        await conversations.findConversation({ tenant, user: 'bob' }, `conv_b${tenant}`),
      ).not.toBeNull()
      expect(await deletion.deleteUser(tenant, "o'ann\0", 1)).toBe(0)
      expect(await deletion.deleteUser(tenant, 'nobody', 1)).toBe(0)
    })

    test("deleteUser deletes the user's turns in conversations of other users, and keeps the conversations", async () => {
      const id = `conv_${tenant}`
      const head = newTurn({ tenant, user: 'ann', conversation: id })
      await createConversation(id, 'bob', head)
      expect(await deletion.deleteUser(tenant, 'ann', 1)).toBe(1)
      expect(await conversations.findConversation({ tenant, user: 'bob' }, id)).toMatchObject({
        headTurnId: null,
      })
    })

    test('deleteUser and deleteThread delete all of the data or nothing', async () => {
      const turn = await storeNewTurn({ user: 'ann' })
      await createConversation(`conv_${tenant}`, 'ann')
      const broken = createExpiryAndDeletionStore({
        ...engine,
        write: (queries, survives) =>
          engine.write([...queries, query('insert into nowhere values (1)')], survives),
      })
      await expect(broken.deleteUser(tenant, 'ann', 1)).rejects.toThrow(/nowhere/)
      const thread = { tenant, user: null, turnId: turn.id, nowMs: 1 }
      await expect(broken.deleteThread(thread)).rejects.toThrow(/nowhere/)
      expect(await findRemaining(turn)).toEqual([turn])
      expect(
        await conversations.findConversation({ tenant, user: 'ann' }, `conv_${tenant}`),
      ).not.toBeNull()
    })
  })
}
