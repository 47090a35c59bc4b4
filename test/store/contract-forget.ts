/** What every database must do to forget: what nobody needs by itself, what somebody names at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConversationStore } from '../../src/store/conversations/conversation-store-interface.ts'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/kysely-turn-management-store.ts'
import { createConversationStore } from '../../src/store/conversations/kysely-conversation-store.ts'
import { createRecallStore } from '../../src/store/recall/kysely-recall-store.ts'
import { createRunStore } from '../../src/store/background-runs/kysely-run-store.ts'
import { createTurnStore } from '../../src/store/turns/kysely-turn-store.ts'
import type {
  Expiry,
  ExpiryCursor,
  RecallStore,
} from '../../src/store/recall/recall-store-interface.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import type { OpenEngine } from './engines.ts'
import { assistant, ending, newId, newTurn, nextTurn, placed, user } from './turns.ts'

export function forgetContract(open: OpenEngine, vault: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let recall: RecallStore
  let conversations: ConversationStore
  let tenant: string
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, vault)
    recall = createRecallStore(engine, vault)
    conversations = createConversationStore(engine, vault)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    tenant = newId()
  })

  const query = (sql: string): SqlQuery => ({ name: null, sql, parameters: [] })
  const said = async (turn: NewTurn): Promise<NewTurn> => {
    await store.openTurn({ ...turn, input: [user('?')] })
    await store.closeTurn(ending(turn, { items: placed([assistant(turn.id)]) }))
    await engine.write([
      query(`insert into stream_events (turn_id, first_number, last_number, tenant, text)
        values ('${turn.id}', 0, 1, '${turn.tenant}', 'x')`),
    ])
    return turn
  }
  const tell = (fields: Partial<NewTurn> = {}) => said(newTurn({ tenant, ...fields }))
  const follow = (parent: NewTurn, fields: Partial<NewTurn> = {}) =>
    said(nextTurn(parent, { createdAtMs: parent.createdAtMs, ...fields }))
  const created = (id: string, who: string | null = null, turn: NewTurn | null = null) => {
    const conversation = { id, tenant, user: who, metadata: {}, createdAtMs: 1 }
    return conversations.createConversation(conversation, turn)
  }

  /** Which of the turns are there, with rows, items and events, or without any of them. */
  const left = async (...turns: readonly NewTurn[]): Promise<readonly NewTurn[]> => {
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

  describe('expiry', () => {
    /** All that was last used before then, page by page. No other test has anything so old. */
    const expire = async (before: number, fields: Partial<Expiry> = {}): Promise<number> => {
      const page = { of: 'all', unusedSinceMs: before, nowMs: 1_000_000, limit: 100 } as const
      let removed = 0
      let after: ExpiryCursor | null = null
      let rounds = 0
      do {
        const expired = await recall.expireTurns({ ...page, after, ...fields })
        removed += expired.removed
        after = expired.next
        rounds += 1
      } while (after !== null && rounds < 50)
      expect(after).toBeNull()
      return removed
    }

    test('takes what was last needed before then, and leaves what was needed since', async () => {
      const [old, kept, touched] = [
        await tell({ createdAtMs: 9 }),
        await tell({ createdAtMs: 10 }),
        await tell({ createdAtMs: 1 }),
      ]
      await recall.touchTurns(tenant, [touched.id], 50)
      expect(await expire(10)).toBe(1)
      expect(await left(old, kept, touched)).toEqual([kept, touched])
      expect(await expire(10)).toBe(0)
      expect(await expire(51)).toBe(2)
    })

    test('leaves what somebody stands on, and takes it with the last of those', async () => {
      const root = await tell({ createdAtMs: 1 })
      const middle = await follow(root)
      const [short, long] = [await follow(middle), await follow(middle)]
      const leaf = await follow(long, { createdAtMs: 20 })
      expect(await expire(10)).toBe(1)
      expect(await left(root, middle, short, long, leaf)).toEqual([root, middle, long, leaf])
      expect(await expire(21)).toBe(4)
      expect(await left(root, middle, short, long, leaf)).toEqual([])
    })

    test('of a round never takes a turn without those that stand on it', async () => {
      const chain = [await tell({ createdAtMs: 1 })]
      for (let createdAtMs = 2; createdAtMs < 8; createdAtMs += 1) {
        chain.push(await follow(chain.at(-1) as NewTurn, { createdAtMs }))
      }
      const page = { of: 'all', unusedSinceMs: 9, nowMs: 9, limit: 3 } as const
      const first = await recall.expireTurns({ ...page, after: null })
      expect(first.removed).toBe(3)
      expect(await left(...chain)).toEqual(chain.slice(0, 4))
      const second = await recall.expireTurns({ ...page, after: first.next })
      expect(second.removed).toBe(3)
      expect(await left(...chain)).toEqual(chain.slice(0, 1))
      expect(await expire(9)).toBe(1)
    })

    test('gets past what is held, however much of it there is', async () => {
      const held = await Promise.all(
        Array.from({ length: 7 }, () => tell({ createdAtMs: 5, conversation: `conv_${tenant}` })),
      )
      const free = await tell({ createdAtMs: 1 })
      await created(`conv_${tenant}`)
      expect(await expire(10, { limit: 2 })).toBe(1)
      expect(await left(...held, free)).toEqual(held)
      await conversations.deleteConversation({ tenant, user: null }, `conv_${tenant}`, 1)
      expect(await left(...held)).toEqual([])
    })

    test('leaves what a conversation holds, be it its head only', async () => {
      const first = newTurn({ tenant, createdAtMs: 1, conversation: `conv_${tenant}` })
      await created(`conv_${tenant}`, null, first)
      const head = await tell({ createdAtMs: 1 })
      await created(`conv_h${tenant}`)
      await engine.write([
        query(`update conversations set head = '${head.id}' where id = 'conv_h${tenant}'`),
      ])
      const gone = await tell({ createdAtMs: 1, conversation: 'conv_that_is_gone' })
      expect(await expire(10)).toBe(1)
      expect(await left(head, gone)).toEqual([head])
      expect(await store.loadChain({ tenant, user: null }, first.id)).toHaveLength(1)
      await conversations.deleteConversation({ tenant, user: null }, `conv_h${tenant}`, 1)
      expect(await expire(10)).toBe(1)
    })

    test('leaves a run that somebody works on', async () => {
      const [alive, dead] = [newId(), newId()]
      const runs = createRunStore(engine, vault)
      await runs.renewReplica(alive, 0, 100)
      await runs.renewReplica(dead, 0, 40)
      const turns = [alive, dead, null].map((owner) => newTurn({ tenant, owner, createdAtMs: 1 }))
      for (const turn of turns) await store.openTurn(turn)
      expect(await expire(10, { nowMs: 50 })).toBe(2)
      const chains = turns.map(({ id }) => store.loadChain({ tenant, user: null }, id))
      expect((await Promise.all(chains)).map((chain) => chain === null)).toEqual([
        false,
        true,
        true,
      ])
      expect(await expire(10, { nowMs: 101 })).toBe(1)
    })

    test('may be only of what is not meant to last', async () => {
      const kept = await tell({ createdAtMs: 1 })
      const below = await follow(kept, { isTemporary: true })
      const above = await follow(below, { isTemporary: true })
      const under = await tell({ createdAtMs: 1, isTemporary: true })
      const stands = await follow(under)
      expect(await expire(10, { of: 'temporary' })).toBe(2)
      expect(await left(kept, below, above, under, stands)).toEqual([kept, under, stands])
      expect(await expire(10)).toBe(3)
    })

    test('takes along what is deleted and was there only for the sake of others', async () => {
      const first = await tell({ createdAtMs: 30 })
      const second = await follow(first, { createdAtMs: 1 })
      const archive = createTurnManagementStore(engine, vault)
      await archive.deleteTurn({ ...first, turnId: first.id, nowMs: 5 })
      await engine.write([
        query(`insert into stream_events (turn_id, first_number, last_number, tenant, text)
          values ('${first.id}', 0, 1, '${tenant}', 'x')`),
      ])
      expect(await expire(10)).toBe(2)
      expect(await left(first, second)).toEqual([])
    })
  })

  describe('of a thread', () => {
    const forget = (turn: NewTurn, who: string | null = null) =>
      recall.forgetThread({ tenant, user: who, turnId: turn.id, nowMs: 1 })

    test('takes all of it, whichever turn is named, and nothing else', async () => {
      const root = await tell()
      const [one, two] = [await follow(root), await follow(root)]
      const other = await tell()
      expect(await forget(two)).toBe(3)
      expect(await left(root, one, two, other)).toEqual([other])
      expect(await forget(two)).toBe(0)
      expect(await forget(newTurn())).toBe(0)
    })

    test('is only for its tenant, and of a user only for its own', async () => {
      const mine = await tell({ user: 'ann' })
      const theirs = await follow(mine, { user: 'bob' })
      const nobodys = await follow(theirs)
      expect(
        await recall.forgetThread({ tenant: newId(), user: null, turnId: mine.id, nowMs: 1 }),
      ).toBe(0)
      expect(await forget(mine, 'bob')).toBe(0)
      expect(await forget(nobodys, 'ann')).toBe(0)
      expect(await forget(mine, '')).toBe(0)
      expect(await forget(mine, 'ann')).toBe(1)
      expect(await left(mine, theirs, nobodys)).toEqual([theirs, nobodys])
      expect(await forget(theirs)).toBe(2)
    })

    test('takes what still runs, and nothing of it comes back', async () => {
      const runs = createRunStore(engine, vault)
      const plain = newTurn({ tenant, owner: 'r' })
      const run = nextTurn(plain, { background: true, owner: 'r' })
      await store.openTurn(plain)
      await store.journalItems(plain.id, tenant, placed([assistant('a')]))
      await runs.openRun(run, { first: 0, last: 0, text: 'x' })
      expect(await forget(run)).toBe(2)
      const hold = { turnId: run.id, tenant, user: null, owner: 'r' }
      const events = { first: 1, last: 1, text: 'y' }
      const items = placed([assistant('late')])
      await store.journalItems(plain.id, tenant, items)
      expect(await store.closeTurn(ending(plain, { items }))).toBe(false)
      expect(await runs.startRun(hold)).toBe(false)
      expect(await runs.recordRun(hold, events, items)).toBe(false)
      expect(await runs.endRun(hold, ending(run, { items }), events)).toBe(false)
      expect(await left(plain, run)).toEqual([])
    })

    test('leaves an empty conversation that waits for none of it', async () => {
      const id = `conv_${tenant}`
      await created(id)
      const first = newTurn({ tenant, conversation: id })
      const hold = { tenant, user: null, id, by: first.id, nowMs: 1, untilMs: 100 }
      await conversations.holdConversation(hold)
      await store.openTurn(first)
      await store.closeTurn(ending(first, { holdsConversation: true }))
      const second = nextTurn(first, { conversation: id })
      await conversations.holdConversation({ ...hold, by: second.id })
      await store.openTurn(second)
      expect(await forget(first)).toBe(2)
      const third = { ...hold, by: newId() }
      expect(await conversations.holdConversation(third)).toMatchObject({
        type: 'held',
        head: null,
      })
    })

    test('leaves a conversation as it is that goes on from somewhere else', async () => {
      const id = `conv_${tenant}`
      const start = newTurn({ tenant, conversation: id })
      await created(id, null, start)
      const failed = await tell({ conversation: id })
      expect(await forget(failed)).toBe(1)
      expect(await conversations.findConversation({ tenant, user: null }, id)).toMatchObject({
        head: start.id,
      })
    })
  })

  describe('of a user', () => {
    test('takes turns, conversations and events, of its tenant, at once', async () => {
      const other = newId()
      const turn = await tell({ user: "o'ann\0" })
      const next = await follow(turn, { user: "o'ann\0" })
      const alone = await tell({ user: "o'ann\0" })
      const running = newTurn({ tenant, user: "o'ann\0" })
      await store.openTurn(running)
      const kept = [
        await follow(next, { user: 'bob' }),
        await tell(),
        await tell({ tenant: other, user: "o'ann\0" }),
      ]
      await created(`conv_a${tenant}`, "o'ann\0")
      await created(`conv_b${tenant}`, 'bob')
      expect(await recall.forgetUser(tenant, "o'ann\0", 1)).toBe(4)
      expect(await left(turn, next, alone, ...kept)).toEqual(kept)
      expect(await store.loadChain(running, running.id)).toBeNull()
      expect(await store.loadChain({ tenant, user: 'bob' }, kept[0]?.id ?? '')).toHaveLength(1)
      expect(
        await conversations.findConversation({ tenant, user: "o'ann\0" }, `conv_a${tenant}`),
      ).toBeNull()
      expect(
        await conversations.findConversation({ tenant, user: 'bob' }, `conv_b${tenant}`),
      ).not.toBeNull()
      expect(await recall.forgetUser(tenant, "o'ann\0", 1)).toBe(0)
      expect(await recall.forgetUser(tenant, 'nobody', 1)).toBe(0)
    })

    test('leaves the conversations of others without its turns', async () => {
      const id = `conv_${tenant}`
      const head = newTurn({ tenant, user: 'ann', conversation: id })
      await created(id, 'bob', head)
      expect(await recall.forgetUser(tenant, 'ann', 1)).toBe(1)
      expect(await conversations.findConversation({ tenant, user: 'bob' }, id)).toMatchObject({
        head: null,
      })
    })

    test('is all or nothing, as is that of a thread', async () => {
      const turn = await tell({ user: 'ann' })
      await created(`conv_${tenant}`, 'ann')
      const broken = createRecallStore({
        ...engine,
        write: (queries, survives) =>
          engine.write([...queries, query('insert into nowhere values (1)')], survives),
      })
      await expect(broken.forgetUser(tenant, 'ann', 1)).rejects.toThrow(/nowhere/)
      const thread = { tenant, user: null, turnId: turn.id, nowMs: 1 }
      await expect(broken.forgetThread(thread)).rejects.toThrow(/nowhere/)
      expect(await left(turn)).toEqual([turn])
      expect(
        await conversations.findConversation({ tenant, user: 'ann' }, `conv_${tenant}`),
      ).not.toBeNull()
    })
  })
}
