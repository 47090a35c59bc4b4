import { describe, expect, test } from 'vitest'
import {
  createRecallCache,
  type RecallCache,
  type RecalledItems,
} from '../../../src/store/recall/recall-cache.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { createStores } from '../../../src/store/create-stores.ts'
import { assistant, ending, newTurn, placed, user } from '../turns.ts'

const ITEMS: RecalledItems = { input: [], output: [assistant('a')] }

function idsIn(
  cache: RecallCache,
  turnIds: readonly string[],
  fingerprints: readonly string[] = [],
): readonly string[] {
  return [...cache.atHand(turnIds, fingerprints).keys()]
}

describe('what was read lately', () => {
  test('is at hand by its id and by its words', () => {
    const cache = createRecallCache(100)
    cache.keep('A', 'words', ITEMS, 10)
    cache.keep('B', 'words', ITEMS, 10)
    cache.keep('C', null, ITEMS, 10)
    expect(idsIn(cache, ['A', 'X'])).toEqual(['A'])
    expect(idsIn(cache, [], ['words', 'other'])).toEqual(['A', 'B'])
    expect(cache.atHand(['C'], []).get('C')).toBe(ITEMS)
  })

  test('makes room for what is newer, but not what is in use', () => {
    const cache = createRecallCache(40)
    for (const id of ['A', 'B', 'C', 'D']) cache.keep(id, `words of ${id}`, ITEMS, 10)
    cache.atHand(['A'], [])
    cache.keep('E', null, ITEMS, 10)
    expect(idsIn(cache, ['A', 'B', 'C', 'D', 'E'], ['words of B'])).toEqual(['A', 'C', 'D', 'E'])
  })

  test('stays with whoever has asked for it, whatever comes meanwhile', () => {
    const cache = createRecallCache(40)
    cache.keep('A', null, ITEMS, 10)
    const held = cache.atHand(['A'], [])
    for (const id of ['B', 'C', 'D', 'E']) cache.keep(id, null, ITEMS, 10)
    expect(idsIn(cache, ['A'])).toEqual([])
    expect(held.get('A')).toBe(ITEMS)
  })

  test('is not one large thing instead of everything else', () => {
    const cache = createRecallCache(40)
    cache.keep('A', null, ITEMS, 11)
    expect(idsIn(cache, ['A'])).toEqual([])
  })

  test('kept twice counts once', () => {
    const cache = createRecallCache(40)
    for (let round = 0; round < 9; round++) cache.keep('A', 'words', ITEMS, 10)
    cache.keep('B', null, ITEMS, 10)
    cache.keep('B', null, ITEMS, 10)
    cache.keep('C', null, ITEMS, 10)
    expect(idsIn(cache, ['A', 'B', 'C'], ['words'])).toEqual(['A', 'B', 'C'])
  })
})

describe('a turn that was read before', () => {
  const keysOf = (turnIds: readonly string[], tenant = 't') => ({
    tenant,
    user: null,
    turnIds,
    callIds: [],
    fingerprints: [],
  })
  const kept = async (conversation: string | null = null) => {
    const engine = await openEngine('sqlite::memory:')
    const stores = createStores(engine)
    const turn = newTurn({ tenant: 't', user: null, conversation, input: [user('q')] })
    await stores.store.openTurn(turn)
    const items = placed([assistant('first')])
    return { stores, turn, end: () => stores.store.closeTurn(ending(turn, { items })) }
  }

  test('is the very same when it is read again', async () => {
    const { stores, turn, end } = await kept()
    await end()
    const [first] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    const [second] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    expect(second).toEqual(first)
    expect(second?.output).toBe(first?.output)
  })

  test('is read anew while it is still growing', async () => {
    const { stores, turn, end } = await kept()
    await stores.store.journalItems(turn.id, 't', [{ position: 0, item: assistant('first') }])
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns[0]?.output).toHaveLength(1)
    await stores.store.journalItems(turn.id, 't', [{ position: 1, item: assistant('second') }])
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns[0]?.output).toHaveLength(2)
    await end()
  })

  test("is gone at once when it is forgotten, and never was anybody else's", async () => {
    const { stores, turn, end } = await kept()
    await end()
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns).toHaveLength(1)
    expect((await stores.recall.findTurns(keysOf([turn.id], 'other'))).turns).toEqual([])
    await stores.recall.forgetThread({ tenant: 't', user: null, turnId: turn.id, nowMs: 1 })
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns).toEqual([])
  })

  test('is read anew if its items may be taken out of a conversation', async () => {
    const { stores, turn, end } = await kept('conv_1')
    await end()
    const [first] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    const [second] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    expect(second?.output).not.toBe(first?.output)
  })
})
