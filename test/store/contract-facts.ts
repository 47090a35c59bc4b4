/**
 * Contract tests for the fact store on every database: facts are found by their words, and by their
 * owner only.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractSearchTerms } from '../../src/core/text/search-terms.ts'
import type { StoredFact } from '../../src/store/facts/fact-store-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import { createStores } from '../../src/store/create-stores.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import type { OpenEngine } from './engines.ts'
import { newId, newTurn } from './turns.ts'
import { openStores } from './open-stores.ts'

const NOW = 1_795_000_000_000

export function newFact(fields: Partial<StoredFact> = {}): StoredFact {
  return {
    id: `fact_${newId()}`,
    tenant: 'tenant',
    user: null,
    scope: 'user',
    area: 'gen"eral\0',
    text: 'The cat is called “Tom\0”, half \ud800 a pair.',
    importance: 0.5,
    validUntilMs: null,
    createdAtMs: NOW,
    changedAtMs: NOW,
    usedAtMs: NOW,
    useCount: 0,
    source: { thread: newId(), response: null, items: [0, 7] },
    ...fields,
  }
}

export function testFacts(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openStores(open, encryption)

  const save = async (fields: Partial<StoredFact> = {}): Promise<StoredFact> => {
    const fact = newFact({ ...opened.owner, ...fields })
    expect(await opened.stores.facts.saveFact(fact)).toBe(true)
    return fact
  }
  const search = (
    words: string,
    who: Caller = opened.owner,
    scopes: readonly string[] = ['user'],
  ) =>
    opened.stores.facts.searchFacts(who, {
      scopes,
      words: extractSearchTerms(words),
      nowMs: NOW,
      limit: 10,
    })
  const textsFor = async (...scopeSubsets: Parameters<typeof search>) =>
    (await search(...scopeSubsets)).facts.map(({ text }) => text)
  const core = (who: Caller = opened.owner, scopes: readonly string[] = ['user']) =>
    opened.stores.facts.listCoreFacts(who, { scopes, nowMs: NOW, limit: 50 })

  describe('writing, reading and listing of facts', () => {
    test('a stored fact is returned as it was written', async () => {
      const fact = await save({ importance: 0.9, validUntilMs: NOW + 1 })
      expect(await opened.stores.facts.findFact(opened.owner, fact.id)).toStrictEqual(fact)
      expect((await search('tom')).facts).toStrictEqual([fact])
      expect(await core()).toStrictEqual([fact])
      expect(
        await opened.stores.facts.listFacts(opened.owner, { after: null, order: 'asc', limit: 5 }),
      ).toEqual([fact])
      expect(
        await opened.stores.facts.findFactsByIdEnding(opened.owner, fact.id.slice(-8)),
      ).toStrictEqual([fact])
      expect(await opened.stores.facts.findFactsByIdEnding(opened.owner, '%')).toEqual([])
    })

    test('a fact is stored once when callers save the same words at the same time', async () => {
      const same = ['The sky is blue', 'the SKY is, blue!', 'Blue is the sky.'].map((text) =>
        newFact({ ...opened.owner, text }),
      )
      const saved = await Promise.all(same.map((fact) => opened.stores.facts.saveFact(fact)))
      expect(saved.filter(Boolean)).toHaveLength(1)
      expect((await search('sky')).facts).toHaveLength(1)
      await save({ text: 'The sky is blue', scope: newId() })
    })

    test('a stored fact is found by its new words after it was replaced, and not by the old ones', async () => {
      const fact = await save({ text: 'The server listens on port 8080' })
      const moved = { ...fact, text: 'The server listens on port 9090', changedAtMs: NOW + 5 }
      await opened.stores.facts.replaceFact(moved)
      expect(await textsFor('8080')).toEqual([])
      expect((await search('9090')).facts).toStrictEqual([moved])
    })

    test('a stored fact stays unchanged if another fact has the new words, or if it was deleted', async () => {
      const [one, other] = [
        await save({ text: 'one and one' }),
        await save({ text: 'two and two' }),
      ]
      await opened.stores.facts.replaceFact({ ...other, text: one.text })
      expect(await textsFor('two')).toEqual(['two and two'])
      expect(await textsFor('one')).toEqual(['one and one'])
      await opened.stores.facts.deleteFact(opened.owner, one.id)
      await opened.stores.facts.replaceFact({ ...one, text: 'one more' })
      expect(await textsFor('one more')).toEqual([])
    })

    test('a stored fact is listed in pages, in both orders', async () => {
      const ids: string[] = []
      for (const at of [1, 2, 3]) ids.push((await save({ text: `fact number ${at}` })).id)
      ids.sort()
      const page = async (order: 'asc' | 'desc', after: string | null) =>
        (await opened.stores.facts.listFacts(opened.owner, { after, order, limit: 2 })).map(
          ({ id }) => id,
        )
      expect(await page('asc', null)).toEqual(ids.slice(0, 2))
      expect(await page('asc', ids[1] ?? '')).toEqual(ids.slice(2))
      expect(await page('desc', null)).toEqual(ids.toReversed().slice(0, 2))
      expect(await page('desc', ids[1] ?? '')).toEqual(ids.slice(0, 1))
    })
  })

  describe('search for facts with searchFacts', () => {
    test('searchFacts returns the facts with most of the rare words first, in one round trip', async () => {
      await save({ text: 'The dog is called Rex' })
      await save({ text: 'The cat is called Tom' })
      await save({ text: 'The house is old' })
      const { engine: watched, trips } = recordRoundTrips(opened.engine)
      const { facts } = createStores(watched, encryption)
      const words = extractSearchTerms('what is the name of the cat')
      const found = await facts.searchFacts(opened.owner, {
        scopes: ['user'],
        words,
        nowMs: NOW,
        limit: 2,
      })
      expect(trips).toHaveLength(1)
      expect(found.facts).toHaveLength(2)
      expect(found.facts[0]?.text).toBe('The cat is called Tom')
      expect(['the', 'cat', 'name'].map(found.countFactsWith)).toEqual([3, 1, 0])
      expect(found.factCount).toBe(3)
    })

    test('searchFacts accepts thousands of words, and none', async () => {
      await save({ text: 'a needle in it' })
      const hay = Array.from({ length: 2_000 }, (_, at) => `straw${at}`).join(' ')
      expect(await textsFor(`${hay} needle`)).toEqual(['a needle in it'])
      expect(await textsFor('')).toEqual([])
      expect(await textsFor('needle', opened.owner, [])).toEqual([])
    })

    test('searchFacts searches only the latest facts with a frequent word, and still finds rare words', async () => {
      const insert = (at: number) =>
        opened.stores.facts.saveFact(
          newFact({ ...opened.owner, id: `fact_${at + 1000}`, text: `thing ${at}` }),
        )
      for (let at = 0; at < 240; at += 1) await insert(at)
      const found = await search('thing 7')
      expect(found.facts[0]?.text).toBe('thing 7')
      expect(found.facts[1]?.text).toBe('thing 239')
      expect([found.countFactsWith('thing'), found.countFactsWith('7'), found.factCount]).toEqual([
        200, 1, 200,
      ])
    })

    test('searchFacts does not find expired facts', async () => {
      await save({ text: 'valid until now', validUntilMs: NOW, importance: 1 })
      const valid = await save({ text: 'valid for longer', validUntilMs: NOW + 1, importance: 1 })
      expect(await textsFor('valid')).toEqual([valid.text])
      expect((await core()).map(({ id }) => id)).toEqual([valid.id])
    })
  })

  test('listCoreFacts returns important facts and those of the area core', async () => {
    await save({ text: 'not important', importance: 0.89 })
    await save({ text: 'of the core', area: 'core', importance: 0.1 })
    await save({ text: 'very important', importance: 0.9 })
    expect((await core()).map(({ text }) => text)).toEqual(['very important', 'of the core'])
  })

  test('touchFacts updates the time of last use at most once an hour', async () => {
    const fact = await save({ usedAtMs: NOW })
    const later = NOW + 2 * 60 * 60 * 1000
    await opened.stores.facts.touchFacts(opened.owner, [fact.id], NOW + 1)
    await opened.stores.facts.touchFacts(opened.owner, [fact.id], later)
    await opened.stores.facts.touchFacts(opened.owner, [fact.id], later + 1)
    expect(await opened.stores.facts.findFact(opened.owner, fact.id)).toMatchObject({
      usedAtMs: later,
      useCount: 1,
    })
  })

  test('a caller cannot find, change or delete facts of another owner (C42)', async () => {
    const tenants = [newId(), newId()]
    const threads = [newId(), newId()]
    const owners = tenants.flatMap((tenant) =>
      [null, 'al"ice\0', 'bob'].map((user) => ({ tenant, user })),
    )
    const scopes = ['user', ...threads]
    const all = owners.flatMap((who) => scopes.map((scope) => ({ ...who, scope })))
    const saved = await Promise.all(
      all.map((place) => save({ ...place, text: 'a secret to share', importance: 1 })),
    )
    const idsOf = (facts: readonly StoredFact[]) => facts.map(({ id }) => id).toSorted()
    const asker = fc.constantFrom(...owners)
    const scopeSubsets = fc.subarray(scopes)
    const visible = fc.asyncProperty(asker, scopeSubsets, async (who, within) => {
      const ownFacts = saved.filter(
        ({ tenant, user }) => tenant === who.tenant && user === who.user,
      )
      const wanted = idsOf(ownFacts.filter(({ scope }) => within.includes(scope)))
      const found = await search('secret', who, within)
      expect(idsOf(found.facts)).toEqual(wanted)
      expect(found.factCount).toBe(wanted.length)
      expect(found.countFactsWith('secret')).toBe(wanted.length)
      expect(idsOf(await core(who, within))).toEqual(wanted)
      const listed = await opened.stores.facts.listFacts(who, {
        after: null,
        order: 'asc',
        limit: 99,
      })
      expect(idsOf(listed)).toEqual(idsOf(ownFacts))
    })
    await fc.assert(visible, { numRuns: 25 })
    const [fact] = saved
    if (fact === undefined) return
    for (const who of owners.slice(1)) {
      expect(await opened.stores.facts.findFact(who, fact.id)).toBeNull()
      expect(await opened.stores.facts.findFactsByIdEnding(who, fact.id.slice(-8))).toEqual([])
      expect(await opened.stores.facts.deleteFact(who, fact.id)).toBe(false)
      await opened.stores.facts.touchFacts(who, [fact.id], NOW + 1e9)
      await opened.stores.facts.replaceFact({ ...fact, ...who, text: 'something else' })
    }
    expect(await opened.stores.facts.findFact(fact, fact.id)).toStrictEqual(fact)
    expect(await opened.stores.facts.deleteFacts(fact)).toBe(3)
    expect((await search('secret', owners[1])).factCount).toBe(1)
  })

  describe('deletion and expiry of facts', () => {
    test('a fact is deleted with its user', async () => {
      const [alice, bob] = [
        { ...opened.owner, user: 'alice' },
        { ...opened.owner, user: 'bob' },
      ]
      for (const who of [opened.owner, alice, bob]) await save({ ...who, text: 'to be deleted' })
      await opened.stores.deletion.deleteUser(opened.owner.tenant, 'alice', NOW)
      expect(await textsFor('deleted', alice)).toEqual([])
      expect(await textsFor('deleted', bob)).toHaveLength(1)
      expect(await textsFor('deleted')).toHaveLength(1)
    })

    test('a fact is deleted with the thread that it is for', async () => {
      const conversation = `conv_${newId()}`
      const turn = newTurn({ ...opened.owner, thread: newId(), conversation })
      await opened.stores.store.openTurn(turn)
      const { thread } = turn
      await save({ scope: conversation, text: 'for its conversation' })
      await save({ scope: thread, text: 'for this thread' })
      await save({ text: 'for all of them', source: { thread, response: null, items: null } })
      await opened.stores.deletion.deleteThread({
        ...opened.owner,
        tenant: newId(),
        turnId: turn.id,
        nowMs: NOW,
      })
      expect(await textsFor('for', opened.owner, [thread])).toHaveLength(1)
      await opened.stores.deletion.deleteThread({ ...opened.owner, turnId: turn.id, nowMs: NOW })
      expect(await textsFor('for', opened.owner, [thread, conversation, 'user'])).toEqual([
        'for all of them',
      ])
    })

    test('a fact is deleted with the conversation that it is for', async () => {
      const id = `conv_${newId()}`
      const { conversations } = opened.stores
      await conversations.createConversation(
        { ...opened.owner, id, metadata: {}, createdAtMs: 1 },
        null,
      )
      await save({ scope: id, text: 'for this conversation' })
      await conversations.deleteConversation({ ...opened.owner, user: 'bob' }, id, NOW)
      expect(await textsFor('for', opened.owner, [id])).toHaveLength(1)
      await conversations.deleteConversation(opened.owner, id, NOW)
      expect(await textsFor('for', opened.owner, [id])).toEqual([])
    })

    test('a fact is deleted when it has expired, or was not used for long and is not important', async () => {
      const expire = (chats: 'all' | 'temporary', unusedSinceMs: number) =>
        opened.stores.deletion.expireTurns({
          chats,
          unusedSinceMs,
          nowMs: NOW,
          after: null,
          limit: 100,
        })
      await save({ text: 'unused', usedAtMs: 1_000 })
      await save({ text: 'unused but important', usedAtMs: 1_000, importance: 0.9 })
      await save({ text: 'used', usedAtMs: 3_000 })
      const over = await save({ text: 'over', validUntilMs: NOW - 1 })
      await expire('temporary', 2_000)
      expect(await opened.stores.facts.findFact(opened.owner, over.id)).toBeNull()
      expect(await textsFor('unused')).toHaveLength(2)
      await expire('all', 2_000)
      expect(await textsFor('unused used')).toEqual(
        expect.arrayContaining(['unused but important', 'used']),
      )
      expect(await textsFor('unused used')).toHaveLength(2)
    })
  })
}
