/** What every database must do for summaries: found by what they stand for, one of each beginning. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/store/engine.ts'
import type { Owner } from '../../src/store/owner.ts'
import { createStores, type Stores } from '../../src/store/stores.ts'
import type { NewSummary, StoredSummary } from '../../src/store/summary-store.ts'
import type { Vault } from '../../src/store/vault.ts'
import type { OpenEngine } from './engines.ts'
import { counting } from './counting.ts'
import { ending, newId, newTurn, nextTurn } from './turns.ts'

const NOW = 1_795_000_000_000

export function newSummary(fields: Partial<NewSummary> = {}): NewSummary {
  return {
    id: `sum_${newId()}`,
    tenant: 'tenant',
    user: null,
    conversation: null,
    turn: null,
    parent: null,
    prefixHash: newId(),
    turns: 4,
    items: 9,
    text: 'What was said: “no\0thing”, half \ud800 a pair.',
    facts: ['port 8080', '"quoted"'],
    tokensBefore: 5_000_000_000,
    tokensAfter: 80,
    model: 'm"odel\0',
    promptVersion: 1,
    madeFrom: null,
    generation: 1,
    createdAtMs: NOW,
    usedAtMs: NOW,
    isTemporary: false,
    ...fields,
  }
}

/** As it comes back. */
export function asStored({ turn: _turn, parent: _parent, ...summary }: NewSummary): StoredSummary {
  return summary
}

export function summaryContract(open: OpenEngine, vault: Vault): void {
  let engine: Engine
  let stores: Stores
  let owner: Owner
  beforeAll(async () => {
    engine = await open()
    stores = createStores(engine, vault)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    owner = { tenant: newId(), user: null }
  })

  const save = async (fields: Partial<NewSummary> = {}): Promise<NewSummary> => {
    const summary = newSummary({ ...owner, ...fields })
    expect(await stores.summaries.saveSummary(summary)).toBe(true)
    return summary
  }
  const find = (who: Owner, ...summaries: readonly NewSummary[]) =>
    stores.summaries.findSummaries(
      who,
      summaries.map(({ prefixHash }) => prefixHash),
      10,
    )
  const idsOf = (summaries: readonly { readonly id: string }[]) => summaries.map(({ id }) => id)

  describe('what is found', () => {
    test('is as it was kept, the longest first, in one query however many hashes there are', async () => {
      const short = await save({ turns: 2 })
      const long = await save({ turns: 9, madeFrom: short.id, conversation: null })
      const { engine: watched, trips } = counting(engine)
      const hashes = Array.from({ length: 2_000 }, (_, at) => `h${at}`)
      const { summaries } = createStores(watched, vault)
      const wanted = [...hashes, short.prefixHash, long.prefixHash]
      expect(await summaries.findSummaries(owner, wanted, 10)).toStrictEqual(
        [long, short].map(asStored),
      )
      expect(idsOf(await summaries.findSummaries(owner, wanted, 1))).toEqual([long.id])
      expect(trips.map(({ queries }) => queries.length)).toEqual([1, 1])
      expect(await summaries.findSummaries(owner, [], 10)).toEqual([])
      expect(trips).toHaveLength(2)
    })

    test('is the owner’s alone', async () => {
      const alice = { tenant: owner.tenant, user: 'al"ice\0' }
      const hers = await save({ ...alice })
      const nobodys = await save({ prefixHash: hers.prefixHash })
      expect(idsOf(await find(alice, hers))).toEqual([hers.id])
      expect(idsOf(await find(owner, hers))).toEqual([nobodys.id])
      expect(await find({ ...owner, user: 'bob' }, hers)).toEqual([])
      expect(await find({ tenant: newId(), user: null }, hers)).toEqual([])
      const { summaries } = stores
      expect(await summaries.deleteSummary(owner, hers.id)).toBe(false)
      await summaries.touchSummary(owner, hers.id, NOW + 1)
      expect((await find(alice, hers))[0]?.usedAtMs).toBe(NOW)
    })
  })

  describe('of one beginning', () => {
    test('the first is kept, however many are made at once', async () => {
      const prefixHash = newId()
      const made = Array.from({ length: 8 }, (_, at) =>
        newSummary({ ...owner, prefixHash, text: `${at}` }),
      )
      const kept = await Promise.all(made.map((each) => stores.summaries.saveSummary(each)))
      expect(kept.filter(Boolean)).toHaveLength(1)
      const winner = made[kept.indexOf(true)] as NewSummary
      expect(await find(owner, winner)).toStrictEqual([asStored(winner)])
    })

    test('another takes its place only if that is wanted', async () => {
      const first = await save()
      const second = newSummary({ ...owner, prefixHash: first.prefixHash, text: 'anew' })
      expect(await stores.summaries.saveSummary(second)).toBe(false)
      expect(await stores.summaries.saveSummary(second, true)).toBe(true)
      expect(await find(owner, first)).toStrictEqual([asStored(second)])
    })

    test('there is none when it is deleted, and may be one again', async () => {
      const first = await save()
      expect(await stores.summaries.deleteSummary(owner, first.id)).toBe(true)
      expect(await stores.summaries.deleteSummary(owner, first.id)).toBe(false)
      expect(await find(owner, first)).toEqual([])
      await save({ prefixHash: first.prefixHash })
    })
  })

  describe('it is forgotten', () => {
    test('with the thread of the turns that it was made from', async () => {
      const turn = newTurn({ ...owner, thread: newId() })
      await stores.store.openTurn(turn)
      const [after, behind] = [await save({ turn: turn.id }), await save({ parent: turn.id })]
      const other = await save({ turn: newId() })
      await stores.recall.forgetThread({ ...owner, tenant: newId(), turnId: turn.id })
      expect(await find(owner, after, behind)).toHaveLength(2)
      expect(await stores.recall.forgetThread({ ...owner, turnId: turn.id })).toBe(1)
      expect(idsOf(await find(owner, after, behind, other))).toEqual([other.id])
    })

    test('with the last turn of its thread that is not deleted', async () => {
      const dialect = 'responses'
      const root = newTurn({ ...owner, dialect })
      const leaf = nextTurn(root, { dialect })
      for (const turn of [root, leaf]) {
        await stores.store.openTurn(turn)
        await stores.store.closeTurn(ending(turn))
      }
      const summary = await save({ turn: leaf.id, parent: root.id })
      const remove = (turnId: string, who = owner) =>
        stores.archive.deleteTurn({ ...who, turnId, dialect, nowMs: NOW })
      expect(await remove(root.id)).toBe('deleted')
      expect(await find(owner, summary)).toHaveLength(1)
      expect(await remove(leaf.id, { ...owner, user: 'bob' })).toBe('unknown')
      expect(await find(owner, summary)).toHaveLength(1)
      expect(await remove(leaf.id)).toBe('deleted')
      expect(await find(owner, summary)).toEqual([])
    })

    test('with its user', async () => {
      const [alice, bob] = ['alice', 'bob'].map((user) => ({ tenant: owner.tenant, user }))
      const [hers, his] = [await save({ ...alice }), await save({ ...bob })]
      await stores.recall.forgetUser(owner.tenant, 'alice')
      expect(await find(alice as Owner, hers)).toEqual([])
      expect(await find(bob as Owner, his)).toHaveLength(1)
    })

    test('with its conversation', async () => {
      const id = `conv_${newId()}`
      const { conversations } = stores
      await conversations.createConversation({ ...owner, id, metadata: {}, createdAtMs: 1 }, null)
      const summary = await save({ conversation: id })
      expect(await conversations.deleteConversation({ ...owner, user: 'bob' }, id, NOW)).toBe(
        'unknown',
      )
      expect(await find(owner, summary)).toHaveLength(1)
      expect(await conversations.deleteConversation(owner, id, NOW)).toBe('deleted')
      expect(await find(owner, summary)).toEqual([])
    })

    test('when that is forgotten while it is written', async () => {
      const gone = newSummary({ ...owner, parent: newId() })
      expect(await stores.summaries.saveSummary(gone)).toBe(false)
      const homeless = newSummary({ ...owner, conversation: `conv_${newId()}` })
      expect(await stores.summaries.saveSummary(homeless)).toBe(false)
      expect(await find(owner, gone, homeless)).toEqual([])
    })

    test('when nobody has needed it for long', async () => {
      const expire = (of: 'all' | 'temporary', unusedSinceMs: number) =>
        stores.recall.expireTurns({ of, unusedSinceMs, nowMs: NOW, after: null, limit: 100 })
      const old = await save({ usedAtMs: 1_000 })
      const needed = await save({ usedAtMs: 1_000 })
      const brief = await save({ usedAtMs: 1_000, isTemporary: true })
      await stores.summaries.touchSummary(owner, needed.id, 3_000)
      await stores.summaries.touchSummary(owner, needed.id, 2_500)
      await expire('temporary', 2_000)
      expect(await find(owner, old, needed, brief)).toHaveLength(2)
      await expire('all', 3_000)
      expect(idsOf(await find(owner, old, needed, brief))).toEqual([needed.id])
    })
  })
}
