/**
 * Contract tests for final deletion on every database: data of a job that began before the deletion
 * is not stored later, data of a later job is.
 */
import { describe, expect, test } from 'vitest'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import type { DerivedDataSource } from '../../src/store/deletion/expiry-and-deletion-store-interface.ts'
import { newFact } from './contract-facts.ts'
import { newVersion } from './contract-layers.ts'
import { newSummary } from './contract-summaries.ts'
import type { OpenEngine } from './engines.ts'
import { openStores } from './open-stores.ts'
import { createEnding, newId, newTurn, nextTurn, user } from './turns.ts'

/** Later than the clock of the database, so that this is the time of each deletion. */
const NOW = 4_102_444_800_000
const BEFORE = NOW - 1
const LATER = NOW + 1

export function testFinalDeletion(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openStores(open, encryption)
  const alice = () => ({ tenant: opened.owner.tenant, user: 'al"ice\0' })

  /**
   * Writes a summary, two facts and two layer versions for a job, and returns which were stored.
   */
  const writeDerivedData = async (
    owner: { tenant: string; user: string | null },
    work: DerivedDataSource,
  ) => {
    const { summaries, facts, layers } = opened.stores
    const { jobStartedAtMs, thread } = work
    const isConversation = thread?.startsWith('conv_') === true
    const ties = isConversation ? { conversation: thread } : { turnId: thread }
    const place = { owner, layer: 'observations', thread: thread ?? newId() }
    const ofUser = { owner, layer: 'working_memory', thread: null }
    const number = (await layers.loadVersions(ofUser)).length + 1
    return Promise.all([
      summaries.saveSummary(newSummary({ ...owner, ...ties, jobStartedAtMs })),
      facts.saveFact(newFact({ ...owner, scope: thread ?? 'user', text: `a ${newId()}` }), work),
      facts.saveFact(newFact({ ...owner, scope: 'user', text: `b ${newId()}` }), work),
      layers.saveVersion(newVersion(place, { derivedFrom: work, id: `lay_${newId()}` })),
      layers.saveVersion(newVersion(ofUser, { derivedFrom: work, number, id: `lay_${newId()}` })),
    ])
  }
  /** Counts the rows of the tenant. */
  const countTenantRows = async () => {
    const count = async (table: string) => {
      const sql = `select count(*) as n from ${table} where tenant = '${alice().tenant}'`
      const [[row] = []] = await opened.engine.read([{ name: null, sql, parameters: [] }])
      return Number((row as { readonly n: number | string }).n)
    }
    const [turns, items, events] = [
      await count('turns'),
      await count('items'),
      await count('stream_events'),
    ]
    return { turns, items, events }
  }
  const NOTHING = [false, false, false, false, false]
  const ALL = [true, true, true, true, true]

  describe('writes after the deletion of a user', () => {
    test('after a user is deleted, data of earlier jobs is not stored, and data of later jobs is', async () => {
      const { deletion } = opened.stores
      await deletion.deleteUser(alice().tenant, alice().user, NOW)
      expect(await writeDerivedData(alice(), { jobStartedAtMs: BEFORE, thread: null })).toEqual(
        NOTHING,
      )
      expect(await writeDerivedData(alice(), { jobStartedAtMs: NOW, thread: newId() })).toEqual(
        NOTHING,
      )
      expect(await opened.stores.facts.listFacts(alice(), ALL_OF_IT)).toEqual([])
      expect(await writeDerivedData(alice(), { jobStartedAtMs: LATER, thread: null })).toEqual(ALL)
    })

    test('after a user is deleted, a turn that began earlier cannot be opened', async () => {
      const { store, deletion, runs } = opened.stores
      await deletion.deleteUser(alice().tenant, alice().user, NOW)
      const open = (fields: Partial<NewTurn>) => {
        const turn = newTurn({ ...alice(), createdAtMs: BEFORE, ...fields })
        return [store.openTurn(turn), runs.openRun(turn, { first: 0, last: 0, text: 'a' })] as const
      }
      for (const fields of [{}, { input: [user('A?')] }, { createdAtMs: NOW }]) {
        const openings = await Promise.allSettled(open(fields))
        expect(openings.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      }
      expect(await countTenantRows()).toEqual({ turns: 0, items: 0, events: 0 })
      for (const fields of [{ createdAtMs: LATER }, { user: 'bob' }, { user: null }]) {
        await Promise.all(open({ ...fields, input: [user('A?')] }))
      }
      expect(await countTenantRows()).toEqual({ turns: 3, items: 3, events: 3 })
    })

    test('after a user is deleted, a turn that is opened at the same time is not stored', async () => {
      const { store, deletion } = opened.stores
      const open = () => {
        const turn = newTurn({ ...alice(), createdAtMs: BEFORE, input: [user('A?')] })
        return store.openTurn(turn).catch(() => undefined)
      }
      const some = () => Array.from({ length: 8 }, open)
      await Promise.all([
        ...some(),
        deletion.deleteUser(alice().tenant, alice().user, NOW),
        ...some(),
        new Promise((resolve) => setTimeout(resolve, 2)).then(() => Promise.all(some())),
      ])
      expect((await countTenantRows()).turns).toBe(0)
    })

    test('after a user is deleted, data of other users stays', async () => {
      const { deletion } = opened.stores
      await deletion.deleteUser(alice().tenant, alice().user, NOW)
      for (const other of [
        { ...alice(), user: 'bob' },
        { ...alice(), user: null },
        { ...alice(), tenant: newId() },
      ]) {
        expect(await writeDerivedData(other, { jobStartedAtMs: BEFORE, thread: null })).toEqual(ALL)
      }
    })

    test('after a user is deleted, data that is written at the same time is not stored', async () => {
      const { facts, deletion } = opened.stores
      const work = { jobStartedAtMs: BEFORE, thread: null }
      const save = (at: number) =>
        facts.saveFact(newFact({ ...alice(), scope: 'user', text: `fact ${at} of many` }), work)
      await Promise.all([
        ...Array.from({ length: 8 }, (_, at) => save(at)),
        deletion.deleteUser(alice().tenant, alice().user, NOW),
        ...Array.from({ length: 8 }, (_, at) => save(8 + at)),
      ])
      expect(await facts.listFacts(alice(), ALL_OF_IT)).toEqual([])
    })
  })

  describe('writes after the deletion of a thread', () => {
    test('after a thread is deleted, data derived from its only answer is not stored', async () => {
      const { store, deletion } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await deletion.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      const work = { jobStartedAtMs: BEFORE, thread: turn.id }
      expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
      expect(await writeDerivedData(alice(), { ...work, jobStartedAtMs: LATER })).toEqual(ALL)
      expect(await writeDerivedData(alice(), { ...work, thread: newId() })).toEqual(ALL)
    })

    test('after a thread is deleted, a turn that continues it cannot be opened', async () => {
      const { store, deletion } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await deletion.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      const next = nextTurn(turn, { createdAtMs: BEFORE, input: [user('A?')] })
      await expect(store.openTurn(next)).rejects.toThrow('was forgotten')
      await store.openTurn({ ...next, createdAtMs: LATER })
      await store.openTurn(newTurn({ ...alice(), createdAtMs: BEFORE }))
      expect(await countTenantRows()).toEqual({ turns: 2, items: 1, events: 0 })
    })

    test('a turn that continues a turn deleted by deleteTurn can still be opened', async () => {
      const { store, archive } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn))
      await archive.deleteTurn({ ...alice(), turnId: turn.id, dialect: turn.dialect, nowMs: NOW })
      await store.openTurn(nextTurn(turn, { createdAtMs: BEFORE }))
      expect((await countTenantRows()).turns).toBe(1)
    })

    test('after a thread is deleted, data of its conversation is not stored', async () => {
      const { store, deletion } = opened.stores
      const conversation = `conv_${newId()}`
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE, conversation })
      await store.openTurn(turn)
      await deletion.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      expect(
        await writeDerivedData(alice(), { jobStartedAtMs: BEFORE, thread: conversation }),
      ).toEqual(NOTHING)
    })

    test('after all turns of a thread are deleted one by one, its data is not stored, and data of other threads is', async () => {
      const { store, archive } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      const next = nextTurn(turn, { ...alice(), createdAtMs: BEFORE })
      for (const each of [turn, next]) {
        await store.openTurn(each)
        await store.closeTurn(createEnding(each))
      }
      const work = { jobStartedAtMs: BEFORE, thread: turn.id }
      const { dialect } = turn
      await archive.deleteTurn({ ...alice(), turnId: next.id, dialect, nowMs: NOW })
      expect(await writeDerivedData(alice(), work)).toEqual(ALL)
      await archive.deleteTurn({ ...alice(), turnId: turn.id, dialect, nowMs: NOW })
      const [summary, fact, , version] = await writeDerivedData(alice(), work)
      expect([summary, fact, version]).toEqual([false, false, false])
    })
  })

  test('data that a job derives from a conversation is not stored after the conversation is deleted', async () => {
    const { conversations } = opened.stores
    const id = `conv_${newId()}`
    const about = { ...alice(), id, metadata: {}, createdAtMs: BEFORE }
    await conversations.createConversation(about, null)
    const work = { jobStartedAtMs: BEFORE, thread: id }
    await conversations.deleteConversation({ ...alice(), user: 'bob' }, id, NOW)
    expect(await writeDerivedData(alice(), work)).toEqual(ALL)
    expect(await conversations.deleteConversation(alice(), id, NOW)).toBe('deleted')
    expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
  })

  describe('deletions by a replica whose clock is an hour slow', () => {
    const HOUR_MS = 60 * 60 * 1000
    const MINUTE_MS = 60 * 1000
    /** The other replicas have the time of the database. */
    const earlier = () => Date.now() - MINUTE_MS
    const slowNow = () => Date.now() - HOUR_MS
    const afterwards = () => Date.now() + MINUTE_MS

    test('after a user is deleted, data of earlier jobs is not stored, and data of later jobs is', async () => {
      const { store, deletion } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: earlier() })
      await store.openTurn(turn)
      const work = { jobStartedAtMs: earlier(), thread: null }
      expect(await writeDerivedData(alice(), work)).toEqual(ALL)
      await deletion.deleteUser(alice().tenant, alice().user, slowNow())
      expect((await countTenantRows()).turns).toBe(0)
      expect(await opened.stores.facts.listFacts(alice(), ALL_OF_IT)).toEqual([])
      expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
      const late = newTurn({ ...alice(), createdAtMs: earlier() })
      await expect(store.openTurn(late)).rejects.toThrow('was forgotten')
      const later = { jobStartedAtMs: afterwards(), thread: null }
      expect(await writeDerivedData(alice(), later)).toEqual(ALL)
    })

    test('after a thread is deleted, or all of its turns, data of earlier jobs is not stored', async () => {
      const { store, deletion, archive } = opened.stores
      const deleteThread = (turn: NewTurn) =>
        deletion.deleteThread({ ...alice(), turnId: turn.id, nowMs: slowNow() })
      const deleteTurn = (turn: NewTurn) =>
        archive.deleteTurn({ ...alice(), turnId: turn.id, dialect: turn.dialect, nowMs: slowNow() })
      for (const deleteIt of [deleteThread, deleteTurn]) {
        const turn = newTurn({ ...alice(), createdAtMs: earlier() })
        await store.openTurn(turn)
        await store.closeTurn(createEnding(turn))
        await deleteIt(turn)
        const work = { jobStartedAtMs: earlier(), thread: turn.id }
        const [summary, fact, , version] = await writeDerivedData(alice(), work)
        expect([summary, fact, version]).toEqual([false, false, false])
      }
    })

    test('after a conversation is deleted, data of earlier jobs is not stored', async () => {
      const { conversations } = opened.stores
      const id = `conv_${newId()}`
      const about = { ...alice(), id, metadata: {}, createdAtMs: earlier() }
      await conversations.createConversation(about, null)
      expect(await conversations.deleteConversation(alice(), id, slowNow())).toBe('deleted')
      const work = { jobStartedAtMs: earlier(), thread: id }
      expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
    })
  })

  test('a slow clock does not move the time of a deletion log entry back, and entries are deleted after a day', async () => {
    const { deletion } = opened.stores
    const notes = async () => {
      const sql = `select name, forgotten_at from forgotten where tenant = '${alice().tenant}'`
      const [rows = []] = await opened.engine.read([{ name: null, sql, parameters: [] }])
      return rows as readonly { readonly name: string; readonly forgotten_at: number }[]
    }
    await deletion.deleteUser(alice().tenant, alice().user, NOW)
    await deletion.deleteUser(alice().tenant, alice().user, NOW - 5000)
    const [note] = await notes()
    expect(note?.forgotten_at).toBe(NOW)
    expect(note?.name).not.toContain('ice')
    const page = { chats: 'temporary', unusedSinceMs: 0, after: null, limit: 1 } as const
    await deletion.expireTurns({ ...page, nowMs: NOW + DAY_MS })
    expect(await notes()).toHaveLength(1)
    await deletion.expireTurns({ ...page, nowMs: NOW + DAY_MS + 1 })
    expect(await notes()).toEqual([])
  })
}

const ALL_OF_IT = { after: null, order: 'asc', limit: 100 } as const
const DAY_MS = 24 * 60 * 60 * 1000
