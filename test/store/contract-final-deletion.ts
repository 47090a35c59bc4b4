/**
 * Contract tests for final deletion on every database: data of a job that began before the deletion
 * is not stored later, data of a later job is.
 */
import { describe, expect, test } from 'vitest'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import type { DerivedDataOrigin } from '../../src/store/deletion/derived-data-origin.ts'
import { newFact } from './contract-facts.ts'
import { newVersion } from './contract-layers.ts'
import { newSummary } from './contract-summaries.ts'
import type { OpenEngine } from './engines.ts'
import { openedStores } from './opened-stores.ts'
import { ending, newId, newTurn, nextTurn, user } from './turns.ts'

const NOW = 1_795_000_000_000
const BEFORE = NOW - 1
const LATER = NOW + 1

export function finalDeletionContract(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openedStores(open, encryption)
  const alice = () => ({ tenant: opened.owner.tenant, user: 'al"ice\0' })

  /**
   * Writes a summary, two facts and two layer versions for a job, and returns which were stored.
   */
  const writeDerivedData = async (
    owner: { tenant: string; user: string | null },
    work: DerivedDataOrigin,
  ) => {
    const { summaries, facts, layers } = opened.stores
    const { begunAtMs, thread } = work
    const isConversation = thread?.startsWith('conv_') === true
    const ties = isConversation ? { conversation: thread } : { turn: thread }
    const place = { owner, layer: 'observations', thread: thread ?? newId() }
    const ofUser = { owner, layer: 'working_memory', thread: null }
    const number = (await layers.loadVersions(ofUser)).length + 1
    return Promise.all([
      summaries.saveSummary(newSummary({ ...owner, ...ties, begunAtMs })),
      facts.saveFact(newFact({ ...owner, scope: thread ?? 'user', text: `a ${newId()}` }), work),
      facts.saveFact(newFact({ ...owner, scope: 'user', text: `b ${newId()}` }), work),
      layers.saveVersion(newVersion(place, { work, id: `lay_${newId()}` })),
      layers.saveVersion(newVersion(ofUser, { work, number, id: `lay_${newId()}` })),
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

  describe('after a user is deleted', () => {
    test('after a user is deleted, data of earlier jobs is not stored, and data of later jobs is', async () => {
      const { recall } = opened.stores
      await recall.deleteUser(alice().tenant, alice().user, NOW)
      expect(await writeDerivedData(alice(), { begunAtMs: BEFORE, thread: null })).toEqual(NOTHING)
      expect(await writeDerivedData(alice(), { begunAtMs: NOW, thread: newId() })).toEqual(NOTHING)
      expect(await opened.stores.facts.listFacts(alice(), ALL_OF_IT)).toEqual([])
      expect(await writeDerivedData(alice(), { begunAtMs: LATER, thread: null })).toEqual(ALL)
    })

    test('after a user is deleted, a turn that began earlier cannot be opened', async () => {
      const { store, recall, runs } = opened.stores
      await recall.deleteUser(alice().tenant, alice().user, NOW)
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
      const { store, recall } = opened.stores
      const open = () => {
        const turn = newTurn({ ...alice(), createdAtMs: BEFORE, input: [user('A?')] })
        return store.openTurn(turn).catch(() => undefined)
      }
      const some = () => Array.from({ length: 8 }, open)
      await Promise.all([
        ...some(),
        recall.deleteUser(alice().tenant, alice().user, NOW),
        ...some(),
        new Promise((resolve) => setTimeout(resolve, 2)).then(() => Promise.all(some())),
      ])
      expect((await countTenantRows()).turns).toBe(0)
    })

    test('after a user is deleted, data of other users stays', async () => {
      const { recall } = opened.stores
      await recall.deleteUser(alice().tenant, alice().user, NOW)
      for (const other of [
        { ...alice(), user: 'bob' },
        { ...alice(), user: null },
        { ...alice(), tenant: newId() },
      ]) {
        expect(await writeDerivedData(other, { begunAtMs: BEFORE, thread: null })).toEqual(ALL)
      }
    })

    test('after a user is deleted, data that is written at the same time is not stored', async () => {
      const { facts, recall } = opened.stores
      const work = { begunAtMs: BEFORE, thread: null }
      const save = (at: number) =>
        facts.saveFact(newFact({ ...alice(), scope: 'user', text: `fact ${at} of many` }), work)
      await Promise.all([
        ...Array.from({ length: 8 }, (_, at) => save(at)),
        recall.deleteUser(alice().tenant, alice().user, NOW),
        ...Array.from({ length: 8 }, (_, at) => save(8 + at)),
      ])
      expect(await facts.listFacts(alice(), ALL_OF_IT)).toEqual([])
    })
  })

  describe('after a thread is deleted', () => {
    test('after a thread is deleted, data derived from its only answer is not stored', async () => {
      const { store, recall } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await recall.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      const work = { begunAtMs: BEFORE, thread: turn.id }
      expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
      expect(await writeDerivedData(alice(), { ...work, begunAtMs: LATER })).toEqual(ALL)
      expect(await writeDerivedData(alice(), { ...work, thread: newId() })).toEqual(ALL)
    })

    test('after a thread is deleted, a turn that continues it cannot be opened', async () => {
      const { store, recall } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await recall.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      const next = nextTurn(turn, { createdAtMs: BEFORE, input: [user('A?')] })
      await expect(store.openTurn(next)).rejects.toThrow('was forgotten')
      await store.openTurn({ ...next, createdAtMs: LATER })
      await store.openTurn(newTurn({ ...alice(), createdAtMs: BEFORE }))
      expect(await countTenantRows()).toEqual({ turns: 2, items: 1, events: 0 })
    })

    test('after a thread is deleted, a turn that continues a singly deleted turn can be opened', async () => {
      const { store, archive } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      await store.openTurn(turn)
      await store.closeTurn(ending(turn))
      await archive.deleteTurn({ ...alice(), turnId: turn.id, dialect: turn.dialect, nowMs: NOW })
      await store.openTurn(nextTurn(turn, { createdAtMs: BEFORE }))
      expect((await countTenantRows()).turns).toBe(1)
    })

    test('after a thread is deleted, data of its conversation is not stored', async () => {
      const { store, recall } = opened.stores
      const conversation = `conv_${newId()}`
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE, conversation })
      await store.openTurn(turn)
      await recall.deleteThread({ ...alice(), turnId: turn.id, nowMs: NOW })
      expect(await writeDerivedData(alice(), { begunAtMs: BEFORE, thread: conversation })).toEqual(
        NOTHING,
      )
    })

    test('after a thread is deleted, data of a thread whose turns were all deleted is not stored, but that of a remaining thread is', async () => {
      const { store, archive } = opened.stores
      const turn = newTurn({ ...alice(), createdAtMs: BEFORE })
      const next = nextTurn(turn, { ...alice(), createdAtMs: BEFORE })
      for (const each of [turn, next]) {
        await store.openTurn(each)
        await store.closeTurn(ending(each))
      }
      const work = { begunAtMs: BEFORE, thread: turn.id }
      const { dialect } = turn
      await archive.deleteTurn({ ...alice(), turnId: next.id, dialect, nowMs: NOW })
      expect(await writeDerivedData(alice(), work)).toEqual(ALL)
      await archive.deleteTurn({ ...alice(), turnId: turn.id, dialect, nowMs: NOW })
      const [summary, fact, , version] = await writeDerivedData(alice(), work)
      expect([summary, fact, version]).toEqual([false, false, false])
    })
  })

  test('data of a conversation is stored until the conversation is deleted', async () => {
    const { conversations } = opened.stores
    const id = `conv_${newId()}`
    const about = { ...alice(), id, metadata: {}, createdAtMs: BEFORE }
    await conversations.createConversation(about, null)
    const work = { begunAtMs: BEFORE, thread: id }
    await conversations.deleteConversation({ ...alice(), user: 'bob' }, id, NOW)
    expect(await writeDerivedData(alice(), work)).toEqual(ALL)
    expect(await conversations.deleteConversation(alice(), id, NOW)).toBe('deleted')
    expect(await writeDerivedData(alice(), work)).toEqual(NOTHING)
  })

  test('a slow clock does not move the time of a deletion log entry back, and entries are deleted after a day', async () => {
    const { recall } = opened.stores
    const notes = async () => {
      const sql = `select name, forgotten_at from forgotten where tenant = '${alice().tenant}'`
      const [rows = []] = await opened.engine.read([{ name: null, sql, parameters: [] }])
      return rows as readonly { readonly name: string; readonly forgotten_at: number }[]
    }
    await recall.deleteUser(alice().tenant, alice().user, NOW)
    await recall.deleteUser(alice().tenant, alice().user, NOW - 5000)
    const [note] = await notes()
    expect(note?.forgotten_at).toBe(NOW)
    expect(note?.name).not.toContain('ice')
    const page = { of: 'temporary', unusedSinceMs: 0, after: null, limit: 1 } as const
    await recall.expireTurns({ ...page, nowMs: NOW + DAY_MS })
    expect(await notes()).toHaveLength(1)
    await recall.expireTurns({ ...page, nowMs: NOW + DAY_MS + 1 })
    expect(await notes()).toEqual([])
  })
}

const ALL_OF_IT = { after: null, order: 'asc', limit: 100 } as const
const DAY_MS = 24 * 60 * 60 * 1000
