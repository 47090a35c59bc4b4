/** Tests the steps of a deletion: what it hides from its first moment, and what happens if its process dies. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { newFact } from '../contract-facts.ts'
import { newVersion } from '../contract-layers.ts'
import { newSummary } from '../contract-summaries.ts'
import { ENGINES } from '../engines.ts'
import { assistant, createEnding, newId, newTurn, nextTurn, numberItems, user } from '../turns.ts'
import { waitUntilErased } from '../wait-until-erased.ts'

/** Later than the clock of the database, so that this is the time of each deletion. */
const NOW = 4_102_444_800_000
const [BEFORE, LATER] = [NOW - 1, NOW + 1]
const TURNS = 120

const query = (sql: string): SqlQuery => ({ name: null, sql, parameters: [] })

describe.each(ENGINES.filter(([name]) => ['SQLite in memory', 'Postgres'].includes(name)))(
  'a deletion on %s',
  (_, open) => {
    let engine: Engine
    let stores: Stores
    let ann: { readonly tenant: string; readonly user: string }
    beforeAll(async () => {
      engine = await open()
      stores = createStores(engine)
    })
    afterAll(() => engine.close())
    beforeEach(() => {
      ann = { tenant: newId(), user: 'ann' }
    })
    afterEach(async () => {
      await endLeases()
      await stores.deletion.resumeDeletions()
    })

    const storeTurn = async (turn: NewTurn): Promise<NewTurn> => {
      await stores.store.openTurn({ ...turn, input: [user('A?')] })
      const items = numberItems([{ ...assistant('B.'), id: `msg_${turn.id}` }])
      await stores.store.closeTurn(createEnding(turn, { items, fingerprint: `f${turn.thread}` }))
      return turn
    }
    /** Inserts many turns of a thread, each the parent of the next one, and returns their ids. */
    const storeManyTurns = async (first: NewTurn, count = TURNS): Promise<readonly string[]> => {
      const { id, tenant } = first
      const ids = Array.from({ length: count }, (_, at) => `${id}-${String(at).padStart(5, '0')}`)
      const parentOf = (at: number): string => (at === 0 ? id : (ids[at - 1] ?? ''))
      const turns = ids.map(
        (
          name,
          at,
        ) => `('${name}', '${tenant}', 'ann', '${first.thread}', '${parentOf(at)}', 'responses', 'w',
        'a', 'm', 'complete', ${first.createdAtMs}, ${first.createdAtMs}, '{}', ${at + 1}, 100)`,
      )
      const items = ids.map((name) => `('${name}', '${tenant}', 'in', 0, 'message', '{}')`)
      await engine.write([
        query(`insert into turns (id, tenant, user_id, thread, parent, dialect, wire, account, model, state,
        created_at, used_at, request, depth, bytes) values ${turns.join()}`),
        query(
          `insert into items (turn_id, tenant, side, position, type, body) values ${items.join()}`,
        ),
      ])
      return ids
    }
    const count = async (table: string): Promise<number> => {
      const [[row] = []] = await engine.read([
        query(`select count(*) as n from ${table} where tenant = '${ann.tenant}'`),
      ])
      return (row as { readonly n: number }).n
    }
    /**
     * Stores whose process dies after a number of writes. `dead` resolves then; what is in progress never ends.
     */
    const createDyingStores = (writes: number) => {
      const { promise: dead, resolve } = Promise.withResolvers<void>()
      let remaining = writes
      const write: Engine['write'] = async (...request) => {
        if (remaining === 0) {
          resolve()
          return new Promise(() => undefined)
        }
        remaining -= 1
        return engine.write(...request)
      }
      return { stores: createStores({ ...engine, write }), dead }
    }
    const endLeases = () =>
      engine.write([query(`update erasures set owned_until = 0 where tenant = '${ann.tenant}'`)])

    test('everything of a user is hidden when the first transaction of the deletion is over', async () => {
      const conversation = `conv_${newId()}`
      await stores.conversations.createConversation(
        { id: conversation, ...ann, metadata: {}, createdAtMs: BEFORE },
        null,
      )
      const turn = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE, conversation }))
      const open = newTurn({ ...ann, createdAtMs: BEFORE, replicaId: 'R', background: true })
      await stores.runs.openRun(open, { first: 0, last: 0, text: 'x' })
      await stores.requests.saveRequests(ann, turn.id, async () => ({
        baseTurnId: null,
        requests: [{ body: '"sent"', items: '', about: '{}' }],
      }))
      const summary = newSummary({ ...ann, turnId: turn.id, createdAtMs: BEFORE })
      await stores.summaries.saveSummary(summary)
      const fact = newFact({ ...ann, text: 'ann likes cats', createdAtMs: BEFORE })
      await stores.facts.saveFact(fact)
      const place = { owner: ann, layer: 'working_memory', thread: null }
      await stores.layers.saveVersion(newVersion(place, { createdAtMs: BEFORE }))
      const url = 'https://example.com/cat.png'
      await stores.media.saveMedium(
        { ...ann, thread: turn.thread },
        url,
        { type: 'image/png', base64: 'aa' },
        BEFORE,
      )

      const readAll = async () => ({
        chain: await stores.store.loadChain(ann, turn.id),
        turn: await stores.archive.loadTurn(ann, turn.id),
        found: (
          await stores.recall.findTurns({
            ...ann,
            turnIds: [turn.id],
            callIds: [],
            fingerprints: [`f${turn.thread}`],
          })
        ).turns[0],
        item: (await stores.archive.findItems(ann, [`msg_${turn.id}`])).get(`msg_${turn.id}`),
        run: await stores.runs.readLog(ann, open.id, 0),
        request: await createStores(engine).requests.loadRequest(ann, turn.id),
        conversation: await stores.conversations.findConversation(ann, conversation),
        summary: (await stores.summaries.findSummaries(ann, [summary.prefixHash], 1))[0],
        fact: (await stores.facts.listFacts(ann, { after: null, order: 'asc', limit: 9 }))[0],
        foundFact: (
          await stores.facts.searchFacts(ann, {
            scopes: ['user'],
            words: ['cats'],
            nowMs: NOW,
            limit: 9,
            rule: 'fail',
          })
        ).facts[0],
        layer: (await stores.layers.loadVersions(place))[0],
        medium: (
          await stores.media.findMedia(ann, { urls: [url], fitsInMemory: () => true, nowMs: NOW })
        ).get(url),
      })
      const isFound = async () =>
        Object.fromEntries(
          Object.entries(await readAll()).map(([name, value]) => [
            name,
            value !== null && value !== undefined,
          ]),
        )
      expect(Object.values(await isFound())).toEqual(Array(12).fill(true))
      const dying = createDyingStores(1)
      void dying.stores.deletion.deleteUser(ann.tenant, ann.user, NOW)
      await dying.dead
      expect(await count('turns')).toBe(2)
      expect(Object.entries(await isFound()).filter(([, found]) => found)).toEqual([])
      const hold = { turnId: open.id, ...ann, replicaId: 'R' }
      expect(await stores.runs.startRun(hold)).toBe(false)
      expect(await stores.store.closeTurn(createEnding(open))).toBe(false)
    })

    test('data that a user writes after the request for the deletion stays while the deletion continues', async () => {
      const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
      await storeManyTurns(first)
      const text = 'ann likes cats'
      await stores.facts.saveFact(newFact({ ...ann, text, createdAtMs: BEFORE }))
      const place = { owner: ann, layer: 'working_memory', thread: null }
      await stores.layers.saveVersion(newVersion(place, { createdAtMs: BEFORE }))
      const summary = newSummary({ ...ann, createdAtMs: BEFORE })
      await stores.summaries.saveSummary(summary)
      // A replica with a fast clock wrote this before the deletion.
      const fast = await storeTurn(newTurn({ ...ann, createdAtMs: NOW + 60_000 }))
      const dying = createDyingStores(2)
      void dying.stores.deletion.deleteUser(ann.tenant, ann.user, NOW)
      await dying.dead

      const turn = await storeTurn(newTurn({ ...ann, createdAtMs: LATER }))
      const derivedFrom = { jobStartedAtMs: LATER, thread: null }
      expect(await stores.facts.saveFact(newFact({ ...ann, text, createdAtMs: LATER }))).toBe(true)
      expect(
        await stores.layers.saveVersion(
          newVersion(place, { id: `lay_${newId()}`, createdAtMs: LATER, derivedFrom }),
        ),
      ).toBe(true)
      expect(
        await stores.summaries.saveSummary(
          newSummary({
            ...ann,
            prefixHash: summary.prefixHash,
            createdAtMs: LATER,
            jobStartedAtMs: LATER,
          }),
        ),
      ).toBe(true)
      await endLeases()
      await createStores(engine).deletion.resumeDeletions()
      expect(await stores.store.loadChain(ann, turn.id)).toHaveLength(1)
      expect(await stores.store.loadChain(ann, fast.id)).toBeNull()
      expect(await count('turns')).toBe(1)
      expect(
        await stores.facts.listFacts(ann, { after: null, order: 'asc', limit: 9 }),
      ).toHaveLength(1)
      expect(await stores.layers.loadVersions(place)).toHaveLength(1)
      expect(await stores.summaries.findSummaries(ann, [summary.prefixHash], 3)).toHaveLength(1)
    })

    test.each([1, 3, 6])(
      'a deletion whose process dies after %i writes is finished by another one when the lease is over',
      async (writes) => {
        const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
        await storeManyTurns(first)
        const dying = createDyingStores(writes)
        void dying.stores.deletion.deleteThread({ ...ann, turnId: first.id, nowMs: NOW })
        await dying.dead
        expect(await stores.store.loadChain(ann, first.id)).toBeNull()
        expect(await stores.deletion.resumeDeletions()).toBe(0)
        await endLeases()
        await stores.deletion.resumeDeletions()
        expect([await count('turns'), await count('items'), await count('erasures')]).toEqual([
          0, 0, 0,
        ])
      },
    )

    test('a second request for the same deletion waits for the first and deletes what was written in between', async () => {
      const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
      await storeManyTurns(first)
      const one = stores.deletion.deleteUser(ann.tenant, ann.user, NOW)
      const between = await storeTurn(newTurn({ ...ann, createdAtMs: NOW + 5 }))
      const two = stores.deletion.deleteUser(ann.tenant, ann.user, NOW + 10)
      expect((await one) + (await two)).toBe(TURNS + 2)
      expect(await stores.store.loadChain(ann, between.id)).toBeNull()
      expect(await count('turns')).toBe(0)
    })

    test('a long thread and a large turn are deleted in several transactions', async () => {
      const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
      await storeManyTurns(first)
      const large = newTurn({ ...ann, createdAtMs: BEFORE })
      await stores.store.openTurn({
        ...large,
        input: Array.from({ length: 6 }, () => user('x'.repeat(700_000))),
      })
      await stores.store.closeTurn(createEnding(large))
      let writes = 0
      const counting = createStores({
        ...engine,
        write(...request) {
          writes += 1
          return engine.write(...request)
        },
      })
      const deleted: number[] = []
      const thread = { ...ann, turnId: first.id, nowMs: NOW }
      const onProgress = (turns: number) => void deleted.push(turns)
      expect(await counting.deletion.deleteThread(thread, onProgress)).toBe(TURNS + 1)
      expect(deleted.length).toBeGreaterThan(1)
      expect(deleted.at(-1)).toBe(TURNS + 1)
      writes = 0
      expect(await counting.deletion.deleteThread({ ...thread, turnId: large.id })).toBe(1)
      expect(writes).toBeGreaterThan(4)
      expect([await count('turns'), await count('items')]).toEqual([0, 0])
    })

    test('a turn with many ancestors that are marked as deleted is deleted with all of them', async () => {
      const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
      const ids = await storeManyTurns(first)
      await engine.write([
        query(
          `update turns set deleted_at = 1 where tenant = '${ann.tenant}' and id <> '${ids.at(-1)}'`,
        ),
      ])
      const deletion = { ...ann, turnId: ids.at(-1) ?? '', dialect: 'responses', nowMs: NOW }
      expect(await stores.archive.deleteTurn(deletion)).toBe('deleted')
      await waitUntilErased(engine)
      expect(await count('turns')).toBe(0)
    })

    test.each([2, 3, 4, 5, 6, 7])(
      'marked ancestors of a turn are deleted although the process dies after %i writes',
      async (writes) => {
        const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE }))
        const ids = await storeManyTurns(first)
        await engine.write([
          query(
            `update turns set deleted_at = 1 where tenant = '${ann.tenant}' and id <> '${ids.at(-1)}'`,
          ),
        ])
        const dying = createDyingStores(writes)
        const deletion = { ...ann, turnId: ids.at(-1) ?? '', dialect: 'responses', nowMs: NOW }
        void dying.stores.archive.deleteTurn(deletion)
        await dying.dead
        await endLeases()
        await stores.deletion.resumeDeletions()
        expect([await count('turns'), await count('erasures')]).toEqual([0, 0])
      },
    )

    test('a long conversation is hidden at once, and only turns that others continue stay', async () => {
      const id = `conv_${newId()}`
      await stores.conversations.createConversation(
        { id, ...ann, metadata: {}, createdAtMs: BEFORE },
        null,
      )
      const first = await storeTurn(newTurn({ ...ann, createdAtMs: BEFORE, conversation: id }))
      const ids = await storeManyTurns(first, 240)
      await engine.write([
        query(`update turns set conversation = '${id}' where tenant = '${ann.tenant}'`),
      ])
      const middle = newTurn({ id: ids[100] ?? '', ...ann, thread: first.thread })
      const outside = await storeTurn(nextTurn(middle, { createdAtMs: BEFORE }))
      const dying = createDyingStores(1)
      void dying.stores.conversations.deleteConversation(ann, id, NOW)
      await dying.dead
      expect(await stores.conversations.findConversation(ann, id)).toBeNull()
      expect((await stores.archive.loadTurn(ann, first.id))?.deletedAtMs).toBe(NOW)
      const search = { ...ann, turnIds: [first.id, outside.id], callIds: [], fingerprints: [] }
      expect((await stores.recall.findTurns(search)).turns.map((turn) => turn.id)).toEqual([
        outside.id,
      ])
      await endLeases()
      await stores.deletion.resumeDeletions()
      const chain = await stores.store.loadChain(ann, outside.id)
      expect(chain?.map(({ deletedAtMs }) => deletedAtMs)).toEqual([
        ...Array.from({ length: 102 }, () => NOW),
        null,
      ])
      expect(await count('turns')).toBe(103)
    })
  },
)
