/**
 * Contract tests for media on every database: each is stored once, restored exactly, and deleted
 * with its last use.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createConversationStore } from '../../src/store/conversations/sql-conversation-store.ts'
import { createFetchedMediaStore } from '../../src/store/media/sql-fetched-media-store.ts'
import { createExpiryAndDeletionStore } from '../../src/store/deletion/sql-expiry-and-deletion-store.ts'
import { createRecallStore } from '../../src/store/recall/sql-recall-store.ts'
import { createRunStore } from '../../src/store/background-runs/sql-run-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import { waitUntilErased } from './wait-until-erased.ts'
import type { OpenEngine } from './engines.ts'
import {
  assistant,
  serializeItems,
  createEnding,
  newId,
  newTurn,
  nextTurn,
  numberItems,
  user,
} from './turns.ts'

const HOUR_MS = 60 * 60 * 1000
const LONG_AGO = 1_700_000_000_000

export function testMedia(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let tenant: string
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    tenant = newId()
  })

  const count = async (sql: string): Promise<number> => {
    const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
    return (row as { readonly n: number }).n
  }
  const mediaCount = () => count(`select count(*) as n from media where tenant = '${tenant}'`)
  const largestBody = () =>
    count(`select coalesce(max(length(body)), 0) as n from items where tenant = '${tenant}'`)
  const storeTurn = async (turn: NewTurn, output: readonly Item[] = [assistant('I see.')]) => {
    const store = createTurnStore(engine, encryption)
    await store.openTurn(turn)
    await store.journalItems(turn, numberItems(output.slice(0, 1)))
    await store.closeTurn(
      createEnding(turn, {
        items: numberItems(output),
        fingerprint: turn.id,
        contentHash: turn.id,
      }),
    )
    return turn
  }
  const ownerWithoutUser = () => ({ tenant, user: null, thread: null })
  const ownTurn = (fields: Partial<NewTurn> = {}) =>
    newTurn({ tenant, createdAtMs: LONG_AGO, ...fields })
  const expire = () =>
    createExpiryAndDeletionStore(engine).expireTurns({
      chats: 'all',
      unusedSinceMs: LONG_AGO + HOUR_MS,
      nowMs: LONG_AGO + 3 * HOUR_MS,
      after: null,
      limit: 500,
    })

  describe('media that items contain', () => {
    test('media inside of items are restored byte for byte by every method and from every field', async () => {
      const input = [
        imageMessage(picture(1)),
        sounding(base64(2, 9_000)),
        filed(picture(3, 2_500_000)),
      ]
      const output = [drawn(base64(4, 6_000)), assistant('There.')]
      const turn = await storeTurn(ownTurn({ dialect: 'chat', input }), output)
      const keys = { tenant, user: null, turnIds: [], callIds: [], fingerprints: [turn.id] }
      const archive = createTurnManagementStore(engine, encryption)
      const [chained] = (await createTurnStore(engine, encryption).loadChain(turn, turn.id)) ?? []
      const [recalled] = (await createRecallStore(engine, encryption).findTurns(keys)).turns
      const loaded = await archive.loadTurn(turn, turn.id)
      for (const read of [chained, recalled, loaded]) {
        expect(serializeItems(read?.input ?? [])).toEqual(serializeItems(input))
        expect(serializeItems(read?.output ?? [])).toEqual(serializeItems(output))
      }
      const [listed] = await archive.listTurns({
        ...turn,
        after: null,
        order: 'asc',
        limit: 5,
        model: null,
        metadata: {},
      })
      expect(serializeItems(listed?.output ?? [])).toEqual(serializeItems(output))
      const found = await archive.findItems(turn, ['drawn_1'])
      expect(serializeItems([...found.values()])).toEqual(serializeItems(output.slice(0, 1)))
    })

    test('findItems claims the memory of media as often as their item is requested, before it reads them (C158)', async () => {
      const turn = await storeTurn(ownTurn({}), [drawn(base64(8, 600_000))])
      const { engine: watched, trips } = recordRoundTrips(engine)
      const archive = createTurnManagementStore(watched, encryption)
      const size = JSON.stringify(drawn(base64(8, 600_000))).length
      let claimed = 0
      const claim = ({ bytes }: { bytes: number }) => void (claimed += bytes)
      expect((await archive.findItems(turn, ['drawn_1', 'drawn_1'], claim)).size).toBe(1)
      expect(Math.abs(claimed - 2 * size)).toBeLessThan(size / 50)
      trips.length = 0
      const reject = () => {
        throw new Error('There is no memory left.')
      }
      await expect(archive.findItems(turn, ['drawn_1'], reject)).rejects.toThrow('no memory left')
      const names = trips.flatMap(({ queries }) => queries.map(({ name }) => name))
      expect(names).not.toContain('medium-pieces')
    })

    test('media inside of items are restored from a run and from a conversation', async () => {
      const input = [imageMessage(picture(5))]
      const conversation = {
        id: `conv_${newId()}`,
        tenant,
        user: null,
        metadata: {},
        createdAtMs: 1,
      }
      const run = ownTurn({ replicaId: 'replica', input })
      const added = ownTurn({ input, conversation: conversation.id })
      const runs = createRunStore(engine, encryption)
      const output = [drawn(base64(6, 6_000))]
      const hold = { turnId: run.id, tenant, user: null, replicaId: 'replica' }
      await runs.openRun(run, null)
      await runs.startRun(hold)
      expect(await runs.endRun(hold, createEnding(run, { items: numberItems(output) }), null)).toBe(
        true,
      )
      await createConversationStore(engine, encryption).createConversation(conversation, added)
      const store = createTurnStore(engine, encryption)
      const [first] = (await store.loadChain(run, run.id)) ?? []
      const [second] = (await store.loadChain(added, added.id)) ?? []
      expect(serializeItems([...(first?.input ?? []), ...(first?.output ?? [])])).toEqual(
        serializeItems([...input, ...output]),
      )
      expect(serializeItems(second?.input ?? [])).toEqual(serializeItems(input))
      expect(await mediaCount()).toBe(2)
    })

    test('media inside of items are stored once for a tenant, and not in the rows of the items', async () => {
      const image = picture(7)
      const first = await storeTurn(ownTurn({ input: [imageMessage(image)] }))
      await storeTurn(nextTurn(first, { input: [imageMessage(image), imageMessage(image)] }), [
        filed(image),
      ])
      expect(await mediaCount()).toBe(1)
      expect(await largestBody()).toBeLessThan(1000)
    })

    test('media inside of items are read with one more query in total, and with none if there are no media', async () => {
      const plain = await storeTurn(ownTurn({ input: [user('hi')] }))
      const seen = await storeTurn(nextTurn(plain, { input: [imageMessage(picture(8))] }))
      const last = await storeTurn(nextTurn(seen, { input: [imageMessage(picture(9))] }))
      const { engine: counted, trips } = recordRoundTrips(engine)
      const store = createTurnStore(counted, encryption)
      await store.loadChain(plain, plain.id)
      expect(trips.flatMap(({ queries }) => queries).length).toBe(2)
      await store.loadChain(last, last.id)
      expect(trips.flatMap(({ queries }) => queries).length).toBe(2 + 3)
    })

    test('media inside of items of another tenant are not returned for a forged reference', async () => {
      const image = picture(10)
      await storeTurn(ownTurn({ input: [imageMessage(image)] }))
      const id = await selectOnlyMediaId(engine, tenant)
      tenant = newId()
      const forged = imageMessage(`data:image/png;base64,backstory-media:${id}`)
      const turn = await storeTurn(ownTurn({ input: [forged, user(`backstory-media:${id}`)] }))
      const [read] = (await createTurnStore(engine, encryption).loadChain(turn, turn.id)) ?? []
      expect(serializeItems(read?.input ?? [])).toEqual(serializeItems(turn.input))
      // The medium is not returned either if the row of the item is overwritten with the reference.
      await engine.write([
        {
          name: null,
          sql: `update items set body = '${JSON.stringify(forged)}' where turn_id = '${turn.id}' and position = 1`,
          parameters: [],
        },
      ])
      const silentEncryption = { ...encryption, onUnreadable: () => undefined }
      const [again] =
        (await createTurnStore(engine, silentEncryption).loadChain(turn, turn.id)) ?? []
      expect(JSON.stringify(again)).not.toContain(image.slice(-100))
    })

    test('media inside of items are deleted with the last turn that contains them', async () => {
      const [image, other] = [picture(11), picture(12)]
      const first = await storeTurn(ownTurn({ input: [imageMessage(image), imageMessage(other)] }))
      const keptTurn = await storeTurn(
        ownTurn({ createdAtMs: LONG_AGO + 2 * HOUR_MS, input: [imageMessage(image)] }),
      )
      await expire()
      expect(await createTurnStore(engine, encryption).loadChain(first, first.id)).toBeNull()
      expect(await mediaCount()).toBe(1)
      const [read] =
        (await createTurnStore(engine, encryption).loadChain(keptTurn, keptTurn.id)) ?? []
      expect(serializeItems(read?.input ?? [])).toEqual(serializeItems(keptTurn.input))
      expect(await count(`select count(*) as n from media_pieces where tenant = '${tenant}'`)).toBe(
        1,
      )
    })

    test('media inside of items of a turn that was deleted meanwhile are not written', async () => {
      const turn = ownTurn()
      const store = createTurnStore(engine, encryption)
      await store.openTurn(turn)
      await createExpiryAndDeletionStore(engine).deleteThread({
        ...turn,
        turnId: turn.id,
        nowMs: LONG_AGO,
      })
      await store.journalItems(turn, numberItems([imageMessage(picture(13))]))
      expect(
        await store.closeTurn(
          createEnding(turn, { items: numberItems([imageMessage(picture(13))]) }),
        ),
      ).toBe(false)
      expect(await mediaCount()).toBe(0)
    })
  })

  describe('media that were fetched from URLs', () => {
    test('fetched media are found by their URL and owner, and do not change', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      const [url, twin] = ['https://a.example/1.png', 'https://a.example/2.png']
      const first = { type: 'image/png', base64: base64(14, 1_200_000) }
      await media.saveMedium(ownerWithoutUser(), url, first, LONG_AGO)
      await media.saveMedium(ownerWithoutUser(), twin, first, LONG_AGO)
      await media.saveMedium(
        ownerWithoutUser(),
        url,
        { type: 'image/gif', base64: base64(15, 10) },
        LONG_AGO,
      )
      const urls = [url, twin, 'https://a.example/3.png']
      expect(await media.findMedia(ownerWithoutUser(), wanted(urls))).toEqual(
        new Map([
          [url, first],
          [twin, first],
        ]),
      )
      for (const other of [
        { tenant: newId(), user: null },
        { tenant, user: 'ann' },
      ]) {
        expect(await media.findMedia(other, wanted(urls))).toEqual(new Map())
      }
    })

    test('fetched media are not read if `fitsInMemory` rejects their length (C83)', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      const [large, small] = ['https://a.example/large', 'https://a.example/small']
      await media.saveMedium(
        ownerWithoutUser(),
        large,
        { type: 'image/png', base64: base64(17, 9_000) },
        0,
      )
      await media.saveMedium(
        ownerWithoutUser(),
        small,
        { type: 'image/png', base64: base64(18, 60) },
        0,
      )
      const { engine: counted, trips } = recordRoundTrips(engine)
      const found = await createFetchedMediaStore(counted, encryption).findMedia(
        ownerWithoutUser(),
        {
          ...wanted([large, small]),
          fitsInMemory: (chars) => chars < 1000,
        },
      )
      expect(found.get(large)).toBeNull()
      expect(found.get(small)).not.toBeNull()
      expect(trips.filter(({ verb }) => verb === 'read')).toHaveLength(2)
    })

    test('reading fetched media updates their time of last use at most once a day', async () => {
      const url = 'https://a.example/daily'
      const medium = { type: 'image/png', base64: base64(19, 60) }
      const { engine: counted, trips } = recordRoundTrips(engine)
      const media = createFetchedMediaStore(counted, encryption)
      await media.saveMedium(ownerWithoutUser(), url, medium, LONG_AGO)
      const writes = () => trips.filter(({ verb }) => verb === 'write').length
      await media.findMedia(ownerWithoutUser(), wanted([url], LONG_AGO + 23 * HOUR_MS))
      expect(writes()).toBe(1)
      await media.findMedia(ownerWithoutUser(), wanted([url], LONG_AGO + 25 * HOUR_MS))
      await media.findMedia(ownerWithoutUser(), wanted([url], LONG_AGO + 26 * HOUR_MS))
      expect(writes()).toBe(2)
    })

    test('fetched media stay stored as long as they are used', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      const medium = { type: 'image/png', base64: base64(16, 5_000) }
      const [old, needed] = ['https://a.example/old', 'https://a.example/needed']
      await media.saveMedium(ownerWithoutUser(), old, medium, LONG_AGO - 48 * HOUR_MS)
      await media.saveMedium(ownerWithoutUser(), needed, medium, LONG_AGO - 48 * HOUR_MS)
      await media.findMedia(ownerWithoutUser(), wanted([needed], LONG_AGO + 2 * HOUR_MS))
      await expire()
      const remaining = await media.findMedia(ownerWithoutUser(), wanted([old, needed]))
      expect([...remaining.keys()]).toEqual([needed])
    })
  })

  describe('media of deleted turns', () => {
    const ann = (thread: string | null = null) => ({ tenant, user: 'ann', thread })
    const url = 'https://a.example/hers.png'
    const loaded = (number: number) => ({ type: 'image/png', base64: base64(number, 5_000) })

    test('media of deleted turns are deleted with the user at once, except for those that others use', async () => {
      const [hers, shared] = [picture(20), picture(21)]
      const media = createFetchedMediaStore(engine, encryption)
      await storeTurn(ownTurn({ user: 'ann', input: [imageMessage(hers), imageMessage(shared)] }))
      const other = await storeTurn(ownTurn({ user: 'bob', input: [imageMessage(shared)] }))
      await media.saveMedium(ann(), url, loaded(22), LONG_AGO)
      await media.saveMedium({ ...ann(), user: 'bob' }, url, loaded(23), LONG_AGO)
      expect(await mediaCount()).toBe(4)
      await createExpiryAndDeletionStore(engine).deleteUser(tenant, 'ann', LONG_AGO)
      expect(await mediaCount()).toBe(2)
      expect(await media.findMedia(ann(), wanted([url]))).toEqual(new Map())
      expect((await media.findMedia({ ...ann(), user: 'bob' }, wanted([url]))).size).toBe(1)
      const [read] = (await createTurnStore(engine, encryption).loadChain(other, other.id)) ?? []
      expect(serializeItems(read?.input ?? [])).toEqual(serializeItems(other.input))
    })

    test('media of deleted turns are not found by their URL after the last turn of their thread is deleted', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      const turn = await storeTurn(ownTurn({ user: 'ann' }))
      await media.saveMedium(ann(turn.thread), url, loaded(26), LONG_AGO)
      const deletion = { ...ann(), turnId: turn.id, dialect: turn.dialect, nowMs: LONG_AGO }
      const archive = createTurnManagementStore(engine, encryption)
      expect(await archive.deleteTurn({ ...deletion, user: 'bob' })).toBe('unknown')
      expect((await media.findMedia(ann(), wanted([url]))).size).toBe(1)
      expect(await archive.deleteTurn(deletion)).toBe('deleted')
      expect(await media.findMedia(ann(), wanted([url]))).toEqual(new Map())
    })

    test('media of deleted turns are deleted with a conversation at once, except for those that a fork uses', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      const archive = createTurnManagementStore(engine, encryption)
      const conversations = createConversationStore(engine, encryption)
      const id = `conv_${newId()}`
      const about = { tenant, user: 'ann', metadata: {}, createdAtMs: LONG_AGO }
      const fork = `${url}?fork`
      const turn = await storeTurn(
        ownTurn({ user: 'ann', conversation: id, input: [imageMessage(picture(27))] }),
      )
      const other = await storeTurn(
        ownTurn({ user: 'ann', conversation: id, input: [imageMessage(picture(28))] }),
      )
      const forked = await storeTurn(
        nextTurn(other, { user: 'ann', input: [imageMessage(picture(29))] }),
      )
      await conversations.createConversation({ ...about, id }, null)
      await media.saveMedium(ann(turn.thread), url, loaded(30), LONG_AGO)
      await media.saveMedium(ann(other.thread), fork, loaded(31), LONG_AGO)
      expect(await mediaCount()).toBe(5)
      const owner = { tenant, user: 'ann' }
      expect(await conversations.deleteConversation(owner, id, LONG_AGO)).toBe('deleted')
      await waitUntilErased(engine)
      expect((await media.findMedia(ann(), wanted([url, fork]))).has(url)).toBe(false)
      expect((await media.findMedia(ann(), wanted([fork]))).size).toBe(1)
      expect(await mediaCount()).toBe(3)
      const deletion = { ...owner, turnId: forked.id, dialect: forked.dialect, nowMs: LONG_AGO }
      expect(await archive.deleteTurn(deletion)).toBe('deleted')
      expect(await mediaCount()).toBe(0)
    })

    test('a fetched medium is deleted if another medium was stored for its URL first', async () => {
      const media = createFetchedMediaStore(engine, encryption)
      await media.saveMedium(ann(), url, loaded(32), LONG_AGO + 2 * HOUR_MS)
      await media.saveMedium(ann(), url, loaded(33), LONG_AGO + 2 * HOUR_MS)
      expect(await mediaCount()).toBe(2)
      await expire()
      expect(await mediaCount()).toBe(1)
    })

    test('media of deleted turns stay if other turns use them, and are not marked as released any more', async () => {
      const image = picture(34)
      const turn = await storeTurn(ownTurn({ user: 'ann', input: [imageMessage(image)] }))
      await storeTurn(ownTurn({ input: [imageMessage(image)] }))
      const thread = { tenant, user: 'ann', turnId: turn.id, nowMs: LONG_AGO }
      await createExpiryAndDeletionStore(engine).deleteThread(thread)
      expect(await mediaCount()).toBe(1)
      const released = 'select count(*) as n from media where used_at < 0'
      expect(await count(released)).toBe(0)
    })

    test('media of deleted turns are deleted with the thread at once, and stored again when they are used again', async () => {
      const image = picture(24)
      const media = createFetchedMediaStore(engine, encryption)
      const turn = await storeTurn(ownTurn({ user: 'ann', input: [imageMessage(image)] }))
      await media.saveMedium(ann(turn.thread), url, loaded(25), LONG_AGO)
      const deletion = createExpiryAndDeletionStore(engine)
      const thread = { tenant, turnId: turn.id, nowMs: LONG_AGO }
      expect(await deletion.deleteThread({ ...thread, user: 'bob' })).toBe(0)
      expect(await mediaCount()).toBe(2)
      expect(await deletion.deleteThread({ ...thread, user: 'ann' })).toBe(1)
      expect(await mediaCount()).toBe(0)
      const again = await storeTurn(ownTurn({ user: 'ann', input: [imageMessage(image)] }))
      const [read] = (await createTurnStore(engine, encryption).loadChain(again, again.id)) ?? []
      expect(serializeItems(read?.input ?? [])).toEqual(serializeItems(again.input))
    })
  })
}

function wanted(urls: readonly string[], nowMs = LONG_AGO) {
  return { urls, nowMs, fitsInMemory: () => true }
}

async function selectOnlyMediaId(engine: Engine, tenant: string): Promise<string> {
  const sql = `select id from media where tenant = '${tenant}'`
  const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
  return (row as { readonly id: string }).id
}

/** Returns the same text for the same number. */
function base64(number: number, chars: number): string {
  return Buffer.from(`${number} and more of it `.repeat(chars / 20)).toString('base64')
}

function picture(number: number, chars = 9_000): string {
  return `data:image/png;base64,${base64(number, chars)}`
}

function imageMessage(image_url: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_image', image_url }] }
}

function filed(file_data: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_file', file_data, filename: 'a "file".pdf' }],
  }
}

function sounding(data: string): Item {
  const input_audio = { data, format: 'wav' }
  return { type: 'message', role: 'user', content: [{ type: 'input_audio', input_audio }] }
}

function drawn(result: string): Item {
  return { type: 'opaque', raw: { type: 'image_generation_call', id: 'drawn_1', result } }
}
