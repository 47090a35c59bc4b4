/** Checks that pages, searches and shared fields hide turns and facts as soon as their deletion has begun. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createErasureStatements } from '../../../src/store/deletion/erasure-statements.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { newFact } from '../contract-facts.ts'
import { ENGINES } from '../engines.ts'
import { assistant, createEnding, newId, newTurn, nextTurn, numberItems, user } from '../turns.ts'

const NOW = 1_795_000_000_000
const [BEFORE, LATER] = [NOW - 1, NOW + 1]
const REQUEST = { request: { instructions: 'Be kind.' }, digests: { instructions: 'd1' } }

describe.each(ENGINES.filter(([name]) => ['SQLite in memory', 'Postgres'].includes(name)))(
  'a deletion in progress on %s',
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

    const storeTurn = async (turn: NewTurn): Promise<NewTurn> => {
      await stores.store.openTurn({ ...turn, input: [user('A?')] })
      const items = numberItems([{ ...assistant('B.'), id: `item ${turn.id}` }])
      await stores.store.closeTurn(createEnding(turn, { items, contentHash: `h${turn.id}` }))
      return turn
    }
    /** Inserts an erasure, which hides rows, and deletes none. */
    const beginErasure = async (kind: 'user' | 'thread' | 'conversation', turn: NewTurn) => {
      const sql = createErasureStatements(engine.language)
      const run = { ...ann, erasureId: newId(), runId: newId(), nowMs: NOW }
      const inserts = {
        user: sql.insertOfUser(run),
        thread: sql.insertOfThread({ ...run, turnId: turn.id }),
        conversation: sql.insertOfConversation({ ...run, id: turn.conversation ?? '' }),
      }
      const [rows = []] = await engine.write([inserts[kind]])
      expect(rows).toHaveLength(1)
    }
    const storeChat = () =>
      storeTurn(
        newTurn({
          ...ann,
          ...REQUEST,
          createdAtMs: BEFORE,
          dialect: 'chat',
          conversation: `conv_${newId()}`,
          metadata: { topic: 'cats' },
        }),
      )
    const readTurns = async ({ id, origin }: NewTurn) => {
      const page = { ...ann, after: null, limit: 9, order: 'asc' } as const
      const { archive, store } = stores
      const slice = { lastTurnId: id, lastDepth: 9, maxTurns: 9 }
      return {
        listed: await archive.listTurns({ ...page, model: null, metadata: {} }),
        listedByModel: await archive.listTurns({ ...page, model: origin.model, metadata: {} }),
        listedByLabel: await archive.listTurns({
          ...page,
          model: null,
          metadata: { topic: 'cats' },
        }),
        foundByContent: [await archive.findTurnByContent({ ...ann, hashes: [`h${id}`] })],
        chain: (await store.loadChain(ann, id)) ?? [],
        slice: await archive.loadChainSlice(ann, slice),
        turn: [await archive.loadTurn(ann, id)],
        turnOfItem: (await archive.findTurnsOfItems(ann, [`item ${id}`])) ?? [],
        turnOfGeneratedId: (await archive.findTurnsOfItems(ann, [`msg_${id}0`])) ?? [],
      }
    }
    const listNotFound = async (turn: NewTurn): Promise<readonly string[]> =>
      Object.entries(await readTurns(turn)).flatMap(([name, found]) =>
        found.some((value) => value !== null) ? [] : [name],
      )

    test.each(['user', 'thread'] as const)(
      'hides the turns of a %s from all pages, searches and look-ups',
      async (kind) => {
        const turn = await storeChat()
        const all = Object.keys(await readTurns(turn))
        expect(await listNotFound(turn)).toEqual([])
        await beginErasure(kind, turn)
        expect(await listNotFound(turn)).toEqual(all)
        const labels = { ...ann, turnId: turn.id, dialect: 'chat', metadata: {} }
        expect(await stores.archive.replaceMetadata(labels)).toBe(false)
      },
    )

    test('lists no turns of a conversation, and shows the others that its turns are deleted', async () => {
      const turn = await storeChat()
      expect(await listNotFound(turn)).toEqual([])
      await beginErasure('conversation', turn)
      expect(await listNotFound(turn)).toEqual([
        'listed',
        'listedByModel',
        'listedByLabel',
        'foundByContent',
      ])
      const { chain, slice, turn: own } = await readTurns(turn)
      expect([...chain, ...slice, ...own].map((shown) => shown?.deletedAtMs)).toEqual([
        NOW,
        NOW,
        NOW,
      ])
    })

    test.each(['user', 'thread'] as const)(
      'hides what a later turn shares with a deleted turn of the %s',
      async (kind) => {
        const first = await storeTurn(newTurn({ ...ann, ...REQUEST, createdAtMs: BEFORE }))
        const { digests } = REQUEST
        const thread = newId()
        const later: NewTurn[] = []
        for (const depth of [1, 2, 3]) {
          const fields = { createdAtMs: LATER, depth, digests, thread }
          later.push(await storeTurn(nextTurn(later.at(-1) ?? first, fields)))
        }
        const ids = later.map(({ id }) => id)
        const last = ids[2] ?? ''
        expect((await stores.archive.loadTurn(ann, last))?.request).toEqual(REQUEST.request)
        await beginErasure(kind, first)
        expect((await stores.archive.loadTurn(ann, last))?.request).toEqual({})
        const chain = await stores.store.loadChain(ann, last)
        expect(chain?.map(({ id, request }) => [id, request])).toEqual(ids.map((id) => [id, {}]))
        // The shortcut of the last turn leads to the deleted one.
        const slice = { lastTurnId: last, lastDepth: 0, maxTurns: 1 }
        const [beginning] = await stores.archive.loadChainSlice(ann, slice)
        expect(beginning?.id).toBe(ids[0])
      },
    )

    test('hides facts from every search', async () => {
      const fact = newFact({ ...ann, text: 'ann likes cats', importance: 1, createdAtMs: BEFORE })
      await stores.facts.saveFact(fact)
      const scope = { scopes: ['user'], nowMs: NOW, limit: 9 }
      const countFound = async () => [
        (await stores.facts.searchFacts(ann, { ...scope, words: ['cats'] })).facts.length,
        (await stores.facts.searchFacts(ann, { ...scope, words: ['cats'] })).factCount,
        (await stores.facts.listCoreFacts(ann, scope)).length,
        (await stores.facts.findFactsByIdEnding(ann, fact.id.slice(-6))).length,
        (await stores.facts.findFact(ann, fact.id)) === null ? 0 : 1,
      ]
      expect(await countFound()).toEqual([1, 1, 1, 1, 1])
      await beginErasure('user', newTurn(ann))
      expect(await countFound()).toEqual([0, 0, 0, 0, 0])
    })
  },
)
