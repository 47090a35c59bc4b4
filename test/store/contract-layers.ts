/**
 * Contract tests for the memory layer store on every database: a log of versions with unique
 * numbers.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import type {
  LayerKey,
  NewLayerVersion,
  StoredLayerVersion,
} from '../../src/store/memory-layers/memory-layer-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import type { OpenEngine } from './engines.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import { newId, newTurn } from './turns.ts'
import { openStores } from './open-stores.ts'

const NOW = 1_795_000_000_000

export function newVersion(
  place: LayerKey,
  fields: Partial<NewLayerVersion> = {},
): NewLayerVersion {
  return {
    id: `lay_${newId()}`,
    key: place,
    number: 1,
    round: 1,
    body: { memory: { said: '“no\0thing”, half \ud800 a pair' } },
    createdAtMs: NOW,
    usedAtMs: NOW,
    parentTurnId: null,
    isTemporary: false,
    derivedFrom: { jobStartedAtMs: NOW + 1, thread: null },
    ...fields,
  }
}

export function toStoredVersion(version: NewLayerVersion): StoredLayerVersion {
  const {
    id: _id,
    key: _place,
    parentTurnId: _parent,
    isTemporary: _is,
    derivedFrom: _work,
    ...stored
  } = version
  return stored
}

export function testMemoryLayers(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openStores(open, encryption)
  let place: LayerKey
  beforeEach(() => {
    place = { owner: opened.owner, layer: 'working_memory', thread: newId() }
  })

  const save = async (where: LayerKey, fields: Partial<NewLayerVersion> = {}) => {
    const version = newVersion(where, fields)
    expect(await opened.stores.layers.saveVersion(version)).toBe(true)
    return version
  }
  const load = (where: LayerKey) => opened.stores.layers.loadVersions(where)

  test('loadVersions returns the last version of each round in one query', async () => {
    await save(place, { number: 1, round: 1 })
    const saved = [
      await save(place, { number: 2, round: 1, body: { memory: { a: 1 } } }),
      await save(place, { number: 3, round: 4 }),
    ]
    const { engine: watched, trips } = recordRoundTrips(opened.engine)
    const { layers } = createStores(watched, encryption)
    expect(await layers.loadVersions(place)).toStrictEqual(saved.map(toStoredVersion))
    expect(trips.map(({ queries }) => queries.length)).toEqual([1])
  })

  test('loadVersions returns the latest of many rounds', async () => {
    for (let number = 1; number <= 60; number += 1) await save(place, { number, round: number })
    const numbers = (await load(place)).map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: 48 }, (_, at) => at + 13))
  })

  test('a version number is used once if several writers use it at the same time', async () => {
    const versions = Array.from({ length: 8 }, (_, at) => newVersion(place, { body: { at } }))
    const saved = await Promise.all(versions.map((each) => opened.stores.layers.saveVersion(each)))
    expect(saved.filter(Boolean)).toHaveLength(1)
    expect(await load(place)).toStrictEqual([
      toStoredVersion(versions[saved.indexOf(true)] as NewLayerVersion),
    ])
  })

  test('a layer version is found only by its owner, layer and thread', async () => {
    const others: readonly LayerKey[] = [
      { ...place, owner: { ...opened.owner, user: 'al"ice\0' } },
      { ...place, layer: 'observations' },
      { ...place, thread: null },
      { ...place, owner: { tenant: newId(), user: null } },
    ]
    const mine = await save(place)
    for (const other of others) expect(await load(other)).toEqual([])
    for (const other of others) await save(other, { body: { other: true } })
    expect(await load(place)).toStrictEqual([toStoredVersion(mine)])
    await opened.stores.layers.touchVersions(others[0] as LayerKey, NOW + 5)
    expect(await opened.stores.layers.deleteVersions(others[1] as LayerKey)).toBe(true)
    expect(await load(place)).toStrictEqual([toStoredVersion(mine)])
    expect(await opened.stores.layers.deleteVersions(place)).toBe(true)
    expect(await opened.stores.layers.deleteVersions(place)).toBe(false)
    expect(await load(others[0] as LayerKey)).toHaveLength(1)
  })

  describe('deletion and expiry of layer versions', () => {
    test('a layer version is deleted with the thread of its turns, and with their conversation', async () => {
      const conversation = `conv_${newId()}`
      const turn = newTurn({ ...opened.owner, thread: place.thread ?? '', conversation })
      await opened.stores.store.openTurn(turn)
      const conversationKey = { ...place, thread: conversation }
      const other = { ...place, thread: newId() }
      for (const each of [place, conversationKey, other]) await save(each)
      await opened.stores.deletion.deleteThread({
        tenant: newId(),
        user: null,
        turnId: turn.id,
        nowMs: NOW,
      })
      expect(await load(place)).toHaveLength(1)
      await opened.stores.deletion.deleteThread({ ...opened.owner, turnId: turn.id, nowMs: NOW })
      const loadRemaining = await Promise.all([place, conversationKey, other].map(load))
      expect(loadRemaining.map(({ length }) => length)).toEqual([0, 0, 1])
    })

    test('a layer version is deleted with its user', async () => {
      const [alice, bob] = ['alice', 'bob'].map((user) => ({
        ...place,
        owner: { ...opened.owner, user },
      }))
      const hers = [alice as LayerKey, { ...(alice as LayerKey), thread: null }]
      for (const each of [...hers, bob as LayerKey]) await save(each)
      await opened.stores.deletion.deleteUser(opened.owner.tenant, 'alice', NOW)
      for (const each of hers) expect(await load(each)).toEqual([])
      expect(await load(bob as LayerKey)).toHaveLength(1)
    })

    test('a layer version is deleted with its conversation', async () => {
      const id = `conv_${newId()}`
      const { conversations } = opened.stores
      await conversations.createConversation(
        { ...opened.owner, id, metadata: {}, createdAtMs: 1 },
        null,
      )
      const conversationKey = { ...place, thread: id }
      await save(conversationKey)
      await conversations.deleteConversation({ ...opened.owner, user: 'bob' }, id, NOW)
      expect(await load(conversationKey)).toHaveLength(1)
      await conversations.deleteConversation(opened.owner, id, NOW)
      expect(await load(conversationKey)).toEqual([])
    })

    test('a layer version is deleted when its source is deleted while it is written', async () => {
      expect(
        await opened.stores.layers.saveVersion(newVersion(place, { parentTurnId: newId() })),
      ).toBe(false)
      expect(await load(place)).toEqual([])
    })

    test('a layer version is deleted when it was not used for long', async () => {
      const expire = (chats: 'all' | 'temporary', unusedSinceMs: number) =>
        opened.stores.deletion.expireTurns({
          chats,
          unusedSinceMs,
          nowMs: NOW,
          after: null,
          limit: 100,
        })
      const [old, needed, brief] = ['a', 'b', 'c'].map((thread) => ({ ...place, thread }))
      await save(old as LayerKey, { usedAtMs: 1_000 })
      await save(needed as LayerKey, { usedAtMs: 1_000 })
      await save(brief as LayerKey, { usedAtMs: 1_000, isTemporary: true })
      await opened.stores.layers.touchVersions(needed as LayerKey, 3_000)
      await opened.stores.layers.touchVersions(needed as LayerKey, 2_500)
      const loadRemaining = async () =>
        (await Promise.all([old, needed, brief].map((each) => load(each as LayerKey)))).map(
          ({ length }) => length,
        )
      await expire('temporary', 2_000)
      expect(await loadRemaining()).toEqual([1, 1, 0])
      await expire('all', 3_000)
      expect(await loadRemaining()).toEqual([0, 1, 0])
    })
  })
}
