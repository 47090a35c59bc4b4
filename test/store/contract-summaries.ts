/**
 * Contract tests for the summary store on every database: summaries are found by the
 * hash of the beginning of a conversation that they replace, one for each beginning.
 */
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/core/client/caller.ts'
import { createStores } from '../../src/store/create-stores.ts'
import type {
  NewSummary,
  StoredSummary,
} from '../../src/store/summaries/summary-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import type { OpenEngine } from './engines.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import { createEnding, newId, newTurn, nextTurn } from './turns.ts'
import { openStores } from './open-stores.ts'

const NOW = 1_795_000_000_000

export function newSummary(fields: Partial<NewSummary> = {}): NewSummary {
  return {
    id: `sum_${newId()}`,
    tenant: 'tenant',
    user: null,
    conversation: null,
    turnId: null,
    parentTurnId: null,
    jobStartedAtMs: NOW + 1,
    prefixHash: newId(),
    roundCount: 4,
    itemCount: 9,
    text: 'What was said: “no\0thing”, half \ud800 a pair.',
    facts: ['port 8080', '"quoted"'],
    tokensBefore: 5_000_000_000,
    tokensAfter: 80,
    model: 'm"odel\0',
    promptVersion: 1,
    extendedSummaryId: null,
    generation: 1,
    createdAtMs: NOW,
    usedAtMs: NOW,
    isTemporary: false,
    ...fields,
  }
}

/** Returns the summary as the store returns it. */
export function toStoredSummary(newSummaries: NewSummary): StoredSummary {
  const {
    turnId: _turn,
    parentTurnId: _parent,
    jobStartedAtMs: _jobStartedAtMs,
    ...summary
  } = newSummaries
  return summary
}

export function testSummaries(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openStores(open, encryption)

  const save = async (fields: Partial<NewSummary> = {}): Promise<NewSummary> => {
    const summary = newSummary({ ...opened.owner, ...fields })
    expect(await opened.stores.summaries.saveSummary(summary)).toBe(true)
    return summary
  }
  const find = (who: Caller, ...summaries: readonly NewSummary[]) =>
    opened.stores.summaries.findSummaries(
      who,
      summaries.map(({ prefixHash }) => prefixHash),
      10,
    )
  const idsOf = (summaries: readonly { readonly id: string }[]) => summaries.map(({ id }) => id)

  describe('search for summaries with findSummaries', () => {
    test('findSummaries returns summaries as they were stored, the longest first, in one query for any number of hashes', async () => {
      const short = await save({ roundCount: 2 })
      const long = await save({ roundCount: 9, extendedSummaryId: short.id, conversation: null })
      const { engine: watched, trips } = recordRoundTrips(opened.engine)
      const hashes = Array.from({ length: 2_000 }, (_, at) => `h${at}`)
      const { summaries } = createStores(watched, encryption)
      const wanted = [...hashes, short.prefixHash, long.prefixHash]
      expect(await summaries.findSummaries(opened.owner, wanted, 10)).toStrictEqual(
        [long, short].map(toStoredSummary),
      )
      expect(idsOf(await summaries.findSummaries(opened.owner, wanted, 1))).toEqual([long.id])
      expect(trips.map(({ queries }) => queries.length)).toEqual([1, 1])
      expect(await summaries.findSummaries(opened.owner, [], 10)).toEqual([])
      expect(trips).toHaveLength(2)
    })

    test('findSummaries returns summaries of the owner only', async () => {
      const alice = { tenant: opened.owner.tenant, user: 'al"ice\0' }
      const hers = await save({ ...alice })
      const nobodys = await save({ prefixHash: hers.prefixHash })
      expect(idsOf(await find(alice, hers))).toEqual([hers.id])
      expect(idsOf(await find(opened.owner, hers))).toEqual([nobodys.id])
      expect(await find({ ...opened.owner, user: 'bob' }, hers)).toEqual([])
      expect(await find({ tenant: newId(), user: null }, hers)).toEqual([])
      const { summaries } = opened.stores
      expect(await summaries.deleteSummary(opened.owner, hers.id)).toBe(false)
      await summaries.touchSummary(opened.owner, hers.id, NOW + 1)
      expect((await find(alice, hers))[0]?.usedAtMs).toBe(NOW)
    })
  })

  describe('summaries of the same beginning', () => {
    test("one summary of a conversation's beginning is stored, however many are saved at the same time", async () => {
      const prefixHash = newId()
      const newSummaries = Array.from({ length: 8 }, (_, at) =>
        newSummary({ ...opened.owner, prefixHash, text: `${at}` }),
      )
      const saved = await Promise.all(
        newSummaries.map((each) => opened.stores.summaries.saveSummary(each)),
      )
      expect(saved.filter(Boolean)).toHaveLength(1)
      const winner = newSummaries[saved.indexOf(true)] as NewSummary
      expect(await find(opened.owner, winner)).toStrictEqual([toStoredSummary(winner)])
    })

    test('another summary of the same beginning replaces the first only on request', async () => {
      const first = await save()
      const second = newSummary({ ...opened.owner, prefixHash: first.prefixHash, text: 'anew' })
      expect(await opened.stores.summaries.saveSummary(second)).toBe(false)
      expect(await opened.stores.summaries.saveSummary(second, true)).toBe(true)
      expect(await find(opened.owner, first)).toStrictEqual([toStoredSummary(second)])
    })

    test('after a summary is deleted, none is found for its beginning, and a new one can be stored', async () => {
      const first = await save()
      expect(await opened.stores.summaries.deleteSummary(opened.owner, first.id)).toBe(true)
      expect(await opened.stores.summaries.deleteSummary(opened.owner, first.id)).toBe(false)
      expect(await find(opened.owner, first)).toEqual([])
      await save({ prefixHash: first.prefixHash })
    })
  })

  describe('deletion and expiry of summaries', () => {
    test('a summary is deleted with the thread of the turns that it was made from', async () => {
      const turn = newTurn({ ...opened.owner, thread: newId() })
      await opened.stores.store.openTurn(turn)
      const [after, behind] = [
        await save({ turnId: turn.id }),
        await save({ parentTurnId: turn.id }),
      ]
      const other = await save({ turnId: newId() })
      await opened.stores.deletion.deleteThread({
        ...opened.owner,
        tenant: newId(),
        turnId: turn.id,
        nowMs: NOW,
      })
      expect(await find(opened.owner, after, behind)).toHaveLength(2)
      expect(
        await opened.stores.deletion.deleteThread({ ...opened.owner, turnId: turn.id, nowMs: NOW }),
      ).toBe(1)
      expect(idsOf(await find(opened.owner, after, behind, other))).toEqual([other.id])
    })

    test('a summary is deleted with the last undeleted turn of its thread', async () => {
      const dialect = 'responses'
      const root = newTurn({ ...opened.owner, dialect })
      const leaf = nextTurn(root, { dialect })
      for (const turn of [root, leaf]) {
        await opened.stores.store.openTurn(turn)
        await opened.stores.store.closeTurn(createEnding(turn))
      }
      const summary = await save({ turnId: leaf.id, parentTurnId: root.id })
      const remove = (turnId: string, who = opened.owner) =>
        opened.stores.archive.deleteTurn({ ...who, turnId, dialect, nowMs: NOW })
      expect(await remove(root.id)).toBe('deleted')
      expect(await find(opened.owner, summary)).toHaveLength(1)
      expect(await remove(leaf.id, { ...opened.owner, user: 'bob' })).toBe('unknown')
      expect(await find(opened.owner, summary)).toHaveLength(1)
      expect(await remove(leaf.id)).toBe('deleted')
      expect(await find(opened.owner, summary)).toEqual([])
    })

    test('a summary is deleted with its user', async () => {
      const [alice, bob] = ['alice', 'bob'].map((user) => ({ tenant: opened.owner.tenant, user }))
      const [hers, his] = [await save({ ...alice }), await save({ ...bob })]
      await opened.stores.deletion.deleteUser(opened.owner.tenant, 'alice', NOW)
      expect(await find(alice as Caller, hers)).toEqual([])
      expect(await find(bob as Caller, his)).toHaveLength(1)
    })

    test('a summary is deleted with its conversation', async () => {
      const id = `conv_${newId()}`
      const { conversations } = opened.stores
      await conversations.createConversation(
        { ...opened.owner, id, metadata: {}, createdAtMs: 1 },
        null,
      )
      const summary = await save({ conversation: id })
      expect(
        await conversations.deleteConversation({ ...opened.owner, user: 'bob' }, id, NOW),
      ).toBe('unknown')
      expect(await find(opened.owner, summary)).toHaveLength(1)
      expect(await conversations.deleteConversation(opened.owner, id, NOW)).toBe('deleted')
      expect(await find(opened.owner, summary)).toEqual([])
    })

    test('a summary is deleted when its source is deleted while it is written', async () => {
      const orphanedSummary = newSummary({ ...opened.owner, parentTurnId: newId() })
      expect(await opened.stores.summaries.saveSummary(orphanedSummary)).toBe(false)
      const homeless = newSummary({ ...opened.owner, conversation: `conv_${newId()}` })
      expect(await opened.stores.summaries.saveSummary(homeless)).toBe(false)
      expect(await find(opened.owner, orphanedSummary, homeless)).toEqual([])
    })

    test('a summary is deleted when it was not used for long', async () => {
      const expire = (chats: 'all' | 'temporary', unusedSinceMs: number) =>
        opened.stores.deletion.expireTurns({
          chats,
          unusedSinceMs,
          nowMs: NOW,
          after: null,
          limit: 100,
        })
      const old = await save({ usedAtMs: 1_000 })
      const needed = await save({ usedAtMs: 1_000 })
      const brief = await save({ usedAtMs: 1_000, isTemporary: true })
      await opened.stores.summaries.touchSummary(opened.owner, needed.id, 3_000)
      await opened.stores.summaries.touchSummary(opened.owner, needed.id, 2_500)
      await expire('temporary', 2_000)
      expect(await find(opened.owner, old, needed, brief)).toHaveLength(2)
      await expire('all', 3_000)
      expect(idsOf(await find(opened.owner, old, needed, brief))).toEqual([needed.id])
    })
  })
}
