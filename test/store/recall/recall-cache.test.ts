import { describe, expect, test } from 'vitest'
import {
  createRecallCache,
  type RecallCache,
  type RecalledItems,
} from '../../../src/store/recall/recall-cache.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { createStores } from '../../../src/store/create-stores.ts'
import { assistant, createEnding, newTurn, numberItems, user } from '../turns.ts'

const ITEMS: RecalledItems = { input: [], output: [assistant('a'.repeat(4_000))] }
/** An entry with these items, an id of one letter and a fingerprint takes a little less. */
const ENTRY_BYTES = 5_000

function idsIn(
  cache: RecallCache,
  turnIds: readonly string[],
  fingerprints: readonly string[] = [],
): readonly string[] {
  return [...cache.find(turnIds, fingerprints).keys()]
}

describe('items of turns in the recall cache', () => {
  test('the recall cache finds items by turn id and by fingerprint', () => {
    const cache = createRecallCache(10 * ENTRY_BYTES)
    cache.add('A', 'words', ITEMS)
    cache.add('B', 'words', ITEMS)
    cache.add('C', null, ITEMS)
    expect(idsIn(cache, ['A', 'X'])).toEqual(['A'])
    expect(idsIn(cache, [], ['words', 'other'])).toEqual(['A', 'B'])
    expect(cache.find(['C'], []).get('C')).toBe(ITEMS)
  })

  test('the recall cache drops the least recently used items first', () => {
    const cache = createRecallCache(4 * ENTRY_BYTES)
    for (const id of ['A', 'B', 'C', 'D']) cache.add(id, `words of ${id}`, ITEMS)
    cache.find(['A'], [])
    cache.add('E', null, ITEMS)
    expect(idsIn(cache, ['A', 'B', 'C', 'D', 'E'], ['words of B'])).toEqual(['A', 'C', 'D', 'E'])
  })

  test('items that the recall cache has returned stay valid when the cache drops them', () => {
    const cache = createRecallCache(4 * ENTRY_BYTES)
    cache.add('A', null, ITEMS)
    const found = cache.find(['A'], [])
    for (const id of ['B', 'C', 'D', 'E']) cache.add(id, null, ITEMS)
    expect(idsIn(cache, ['A'])).toEqual([])
    expect(found.get('A')).toBe(ITEMS)
  })

  test('the recall cache rejects an entry that would displace nearly all others', () => {
    const cache = createRecallCache(4 * ENTRY_BYTES)
    cache.add('A', null, { input: [], output: [assistant('a'.repeat(6_000))] })
    expect(idsIn(cache, ['A'])).toEqual([])
  })

  test('the recall cache counts the size of an entry once if it is added twice', () => {
    const cache = createRecallCache(4 * ENTRY_BYTES)
    for (let round = 0; round < 9; round++) cache.add('A', 'words', ITEMS)
    cache.add('B', null, ITEMS)
    cache.add('B', null, ITEMS)
    cache.add('C', null, ITEMS)
    expect(idsIn(cache, ['A', 'B', 'C'], ['words'])).toEqual(['A', 'B', 'C'])
  })
})

describe('repeated searches for a turn', () => {
  const keysOf = (turnIds: readonly string[], tenant = 't') => ({
    tenant,
    user: null,
    turnIds,
    callIds: [],
    fingerprints: [],
  })
  const storeTurn = async (conversation: string | null = null) => {
    const engine = await openEngine('sqlite::memory:')
    const stores = createStores(engine)
    const turn = newTurn({ tenant: 't', user: null, conversation, input: [user('q')] })
    await stores.store.openTurn(turn)
    const items = numberItems([assistant('first')])
    return { stores, turn, end: () => stores.store.closeTurn(createEnding(turn, { items })) }
  }

  test('findTurns returns the items of a turn that was read before as the same objects', async () => {
    const { stores, turn, end } = await storeTurn()
    await end()
    const [first] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    const [second] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    expect(second).toEqual(first)
    expect(second?.output).toBe(first?.output)
  })

  test('findTurns does not cache an unfinished turn', async () => {
    const { stores, turn, end } = await storeTurn()
    await stores.store.journalItems(turn, [{ position: 0, item: assistant('first') }])
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns[0]?.output).toHaveLength(1)
    await stores.store.journalItems(turn, [{ position: 1, item: assistant('second') }])
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns[0]?.output).toHaveLength(2)
    await end()
  })

  test('findTurns returns a cached turn neither after its deletion nor to other owners', async () => {
    const { stores, turn, end } = await storeTurn()
    await end()
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns).toHaveLength(1)
    expect((await stores.recall.findTurns(keysOf([turn.id], 'other'))).turns).toEqual([])
    await stores.deletion.deleteThread({ tenant: 't', user: null, turnId: turn.id, nowMs: 1 })
    expect((await stores.recall.findTurns(keysOf([turn.id]))).turns).toEqual([])
  })

  test('findTurns does not cache a turn of a conversation', async () => {
    const { stores, turn, end } = await storeTurn('conv_1')
    await end()
    const [first] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    const [second] = (await stores.recall.findTurns(keysOf([turn.id]))).turns
    expect(second?.output).not.toBe(first?.output)
  })
})
