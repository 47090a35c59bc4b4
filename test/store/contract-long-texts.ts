/** Contract tests for texts that are longer than a row of D1 may be, on every database. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { LOG_RETENTION_MS } from '../../src/store/background-runs/retention-and-orphan-times.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import type { OpenEngine } from './engines.ts'
import { openStores } from './open-stores.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import {
  assistant,
  createEnding,
  newTurn,
  nextTurn,
  numberItems,
  serializeItems,
  user,
} from './turns.ts'

/** Texts of more than 2 MB in a database, of one to four bytes a character. */
const HEX = randomBytes(1_100_000).toString('hex')
const CHINESE = Array.from(randomBytes(700_000), (byte) =>
  String.fromCharCode(0x4e00 + byte * 64),
).join('')
const EMOJI = `x${'😀é'.repeat(350_000)}`
const ESCAPED = '"\\\u0000\ud800\n'.repeat(120_000)

export function testLongTexts(open: OpenEngine, encryption: RowEncryption): void {
  const opened = openStores(open, encryption)
  const owner = () => ({ tenant: opened.owner.tenant, user: 'al"ice\0' })

  const countPieces = async (): Promise<number> => {
    const sql = `select count(*) as n from text_pieces where tenant = '${owner().tenant}'`
    const [[row] = []] = await opened.engine.read([{ name: null, sql, parameters: [] }])
    return Number((row as { readonly n: number | string }).n)
  }
  const storeTurn = async (fields: Partial<NewTurn>, output: readonly Item[] = []) => {
    const turn = newTurn({ ...owner(), ...fields })
    await opened.stores.store.openTurn(turn)
    await opened.stores.store.closeTurn(
      createEnding(turn, { items: numberItems(output), fingerprint: `f ${turn.id}` }),
    )
    return turn
  }

  describe('texts that are longer than a row of D1', () => {
    test('items and instructions are stored and returned unchanged', async () => {
      const input: readonly Item[] = [
        user('short'),
        user(HEX),
        { type: 'function_call_output', call_id: 'c1', output: CHINESE },
      ]
      const output: readonly Item[] = [
        { ...assistant(EMOJI), id: 'msg_long' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: ESCAPED },
      ]
      const request = { instructions: ESCAPED, tools: [] }
      const turn = await storeTurn({ input, request }, output)
      const { store, archive, recall } = opened.stores
      const [chainTurn, loaded] = [
        (await store.loadChain(turn, turn.id))?.at(-1),
        await archive.loadTurn(turn, turn.id),
      ]
      for (const stored of [chainTurn, loaded]) {
        expect(serializeItems(stored?.input ?? [])).toEqual(serializeItems(input))
        expect(serializeItems(stored?.output ?? [])).toEqual(serializeItems(output))
        expect(stored?.request).toEqual(request)
      }
      const found = await archive.findItems(turn, ['msg_long'])
      expect(serializeItems([...found.values()])).toEqual(serializeItems(output.slice(0, 1)))
      const keys = { turnIds: [turn.id], callIds: [], fingerprints: [] }
      const { turns } = await recall.findTurns({ ...owner(), ...keys })
      expect(serializeItems(turns[0]?.output ?? [])).toEqual(serializeItems(output))
    })

    test('an item with media and thousands of parts is returned unchanged', async () => {
      const parts = Array.from({ length: 3_000 }, (_, at) => ({
        type: 'input_text' as const,
        text: `${at} ${HEX.slice(at, at + 1_000)}`,
      }))
      const image = {
        type: 'input_image' as const,
        image_url: `data:image/png;base64,${HEX.slice(0, 9_000)}`,
        detail: 'auto' as const,
      }
      const input: readonly Item[] = [{ type: 'message', role: 'user', content: [...parts, image] }]
      const turn = await storeTurn({ input })
      const chain = await opened.stores.store.loadChain(turn, turn.id)
      expect(serializeItems(chain?.at(-1)?.input ?? [])).toEqual(serializeItems(input))
      expect(await countPieces()).toBeGreaterThan(0)
    })

    test('a long text that looks like the reference to a medium is returned unchanged', async () => {
      const text = `backstory-media:${'A'.repeat(22)} ${CHINESE}`
      const turn = await storeTurn({ input: [user(text)] })
      const chain = await opened.stores.store.loadChain(turn, turn.id)
      expect(chain?.at(-1)?.input).toEqual([user(text)])
    })

    test('the sent request, which shares texts with a long item, is returned unchanged', async () => {
      const input = [user(HEX)]
      const turn = await storeTurn({ input })
      const sent = {
        body: JSON.stringify({ model: 'm', messages: input }),
        items: '[]',
        about: '{}',
      }
      const { requests } = opened.stores
      await requests.saveRequests(owner(), turn.id, async () => ({
        requests: [sent],
        baseTurnId: null,
      }))
      const other = await storeTurn({ ...nextTurn(turn), input })
      await requests.saveRequests(owner(), other.id, async () => ({
        requests: [sent],
        baseTurnId: turn.id,
      }))
      for (const { id } of [turn, other])
        expect(await requests.loadRequest(owner(), id)).toMatchObject(sent)
    })

    test('the memory of a long text is claimed before it is read', async () => {
      const turn = await storeTurn({ input: [user(HEX)] }, [
        { ...assistant(HEX), id: 'msg_memory' },
      ])
      const { store, archive, recall } = opened.stores
      const claimNothing = (): never => {
        throw new Error('no memory left')
      }
      const keys = { turnIds: [turn.id], callIds: [], fingerprints: [] }
      for (const load of [
        () => store.loadChain(turn, turn.id, { claimMemory: claimNothing }),
        () => archive.loadTurn(turn, turn.id, claimNothing),
        () => archive.findItems(turn, ['msg_memory'], claimNothing),
        () => recall.findTurns({ ...owner(), ...keys }, claimNothing),
      ])
        await expect(load()).rejects.toThrow('no memory left')
    })

    test.each([
      ['that are cut', HEX],
      ['that are not', HEX.slice(0, 1_100_000)],
    ])(
      'the memory of the request fields of a chain %s is claimed before they are read',
      async (_, text) => {
        const turns: NewTurn[] = []
        for (let at = 0; at < 5; at += 1) {
          const request = { instructions: `${at} ${text}`, tools: [] }
          const previous = turns.at(-1)
          const fields = { input: [user('x')], request }
          turns.push(
            await storeTurn(previous === undefined ? fields : { ...nextTurn(previous), ...fields }),
          )
        }
        const last = turns.at(-1) as NewTurn
        const { engine, trips } = recordRoundTrips(opened.engine)
        const { store, archive } = createStores(engine, encryption)
        let claimed = 0
        const claim = ({ bytes }: { bytes: number }) => void (claimed += bytes)
        const chain = await store.loadChain(last, last.id, { claimMemory: claim })
        expect(chain?.map(({ request }) => request)).toEqual(turns.map(({ request }) => request))
        expect(claimed).toBeGreaterThan(4 * text.length)
        const slice = { lastTurnId: last.id, lastDepth: last.depth, maxTurns: 5 }
        const loaded = await archive.loadChainSlice(last, slice)
        expect(loaded.map(({ request }) => request)).toEqual(turns.map(({ request }) => request))
        trips.length = 0
        const claimNothing = (): never => {
          throw new Error('no memory left')
        }
        for (const load of [
          () => store.loadChain(last, last.id, { claimMemory: claimNothing }),
          () => archive.loadChainSlice(last, slice, claimNothing),
        ])
          await expect(load()).rejects.toThrow('no memory left')
        const names = trips.flatMap(({ queries }) => queries.map(({ name }) => name))
        expect(names).not.toContain('requests-of-turns')
        expect(names).not.toContain('text-pieces')
      },
    )

    test('the memory of request fields that a turn shares with an ancestor is claimed', async () => {
      const digests = { instructions: 'd' }
      const first = await storeTurn({ request: { instructions: HEX }, digests })
      const second = await storeTurn({ ...nextTurn(first), request: {}, digests })
      let claimed = 0
      const claim = ({ bytes }: { bytes: number }) => void (claimed += bytes)
      const loaded = await opened.stores.archive.loadTurn(second, second.id, claim)
      expect(loaded?.request).toEqual({ instructions: HEX })
      expect(claimed).toBeGreaterThanOrEqual(HEX.length)
    })

    test('the pieces of a turn are deleted with it, whatever deletes it', async () => {
      const { archive, deletion } = opened.stores
      const fields = { input: [user(HEX)], request: { instructions: HEX } }
      const first = await storeTurn(fields, [assistant(HEX)])
      await archive.deleteTurn({ ...owner(), turnId: first.id, dialect: 'responses', nowMs: 2 })
      expect(await countPieces()).toBe(0)
      const second = await storeTurn(fields, [assistant(HEX)])
      await deletion.deleteThread({ ...owner(), turnId: second.id, nowMs: 2 })
      expect(await countPieces()).toBe(0)
      await storeTurn({ ...fields, createdAtMs: 3 }, [assistant(HEX)])
      await deletion.deleteUser(owner().tenant, owner().user, 4)
      expect(await countPieces()).toBe(0)
    })

    test('a piece that is missing makes its text unreadable, and no other', async () => {
      const turn = await storeTurn({ input: [user('short'), user(HEX)] })
      await opened.engine.write([
        {
          name: null,
          sql: `delete from text_pieces where piece = 3 and turn_id = '${turn.id}'`,
          parameters: [],
        },
      ])
      const options = { undecryptable: 'leave-out' } as const
      const load = opened.stores.store.loadChain(turn, turn.id, options)
      if (encryption.cipher.currentPrefixes.length > 0) await expect(load).rejects.toThrow()
      else expect((await load)?.at(-1)).toMatchObject({ input: [user('short')], unreadable: 1 })
    })
  })

  describe('event logs that are longer than a row of D1', () => {
    const openRun = async () => {
      const turn = newTurn({ ...owner(), background: true, replicaId: 'R1' })
      await opened.stores.runs.openRun(turn, { first: 0, last: 1, text: `created ${HEX}` })
      const run = { ...owner(), turnId: turn.id, replicaId: 'R1' }
      return { turn, run }
    }
    const log = async (turn: NewTurn) =>
      (await opened.stores.runs.readLog(owner(), turn.id, 0))?.groups

    test('groups and items of a run are returned unchanged, also if a write is repeated', async () => {
      const { runs, store } = opened.stores
      const { turn, run } = await openRun()
      const item = assistant(HEX)
      const group = { first: 2, last: 3, text: `delta ${HEX}` }
      const longer = { first: 2, last: 4, text: `delta ${HEX} and ${HEX}` }
      const placed = numberItems([item])
      expect(await runs.recordRun(run, group, placed)).toBe(true)
      expect(await runs.recordRun(run, longer, placed)).toBe(true)
      const last = { first: 5, last: 5, text: `done ${CHINESE}` }
      expect(await runs.endRun(run, createEnding(turn, { items: placed }), last)).toBe(true)
      expect(await log(turn)).toEqual([{ first: 0, last: 1, text: `created ${HEX}` }, longer, last])
      const chain = await store.loadChain(turn, turn.id)
      expect(serializeItems(chain?.at(-1)?.output ?? [])).toEqual(serializeItems([item]))
    })

    test('a replica that does not own the run writes no pieces', async () => {
      const { runs } = opened.stores
      const { turn, run } = await openRun()
      const before = await countPieces()
      const stranger = { ...run, replicaId: 'R2' }
      const group = { first: 2, last: 2, text: HEX }
      expect(await runs.recordRun(stranger, group, numberItems([assistant(HEX)]))).toBe(false)
      expect(await countPieces()).toBe(before)
      expect(await log(turn)).toHaveLength(1)
    })

    test.each([
      ['short', 'kept'],
      ['long', HEX],
    ])('a replica that does not own the run amends no item (%s)', async (_, text) => {
      const { runs, store } = opened.stores
      const { turn, run } = await openRun()
      const items = numberItems([assistant(text)])
      expect(await runs.recordRun(run, null, items)).toBe(true)
      const amendedItems = numberItems([assistant(`amended ${HEX}`)])
      const ending = createEnding(turn, { amendedItems })
      expect(await runs.endRun({ ...run, replicaId: 'R2' }, ending, null)).toBe(false)
      const readOutput = async () => (await store.loadChain(turn, turn.id))?.at(-1)?.output
      expect(await readOutput()).toMatchObject([assistant(text)])
      expect(await runs.endRun(run, ending, null)).toBe(true)
      expect(await readOutput()).toMatchObject([assistant(`amended ${HEX}`)])
    })

    test('an expired log is deleted with its pieces, but not the pieces of items', async () => {
      const { runs, store } = opened.stores
      const turn = newTurn({
        ...owner(),
        id: `0000000000${newTurn().id.slice(10)}`,
        background: true,
        replicaId: 'R1',
      })
      await runs.openRun(turn, { first: 0, last: 1, text: HEX })
      const run = { ...owner(), turnId: turn.id, replicaId: 'R1' }
      await runs.endRun(run, createEnding(turn, { items: numberItems([assistant(HEX)]) }), null)
      await runs.renewReplica('R9', 1_000, LOG_RETENTION_MS + 1_000_000)
      expect(await log(turn)).toEqual([])
      expect(await countPieces()).toBe(Math.ceil(HEX.length / 400_000))
      const chain = await store.loadChain(turn, turn.id)
      expect(chain?.at(-1)?.output).toMatchObject([assistant(HEX)])
    })

    test('the log of a deleted turn that other turns need is deleted with its pieces', async () => {
      const { runs, archive } = opened.stores
      const { turn, run } = await openRun()
      await runs.endRun(run, createEnding(turn), { first: 2, last: 2, text: HEX })
      await storeTurn({ ...nextTurn(turn) })
      await archive.deleteTurn({ ...owner(), turnId: turn.id, dialect: 'responses', nowMs: 2 })
      expect(await countPieces()).toBe(0)
    })
  })
}
