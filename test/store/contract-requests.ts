/** Contract tests for the store of upstream requests on every database. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/sql-turn-management-store.ts'
import { createExpiryAndDeletionStore } from '../../src/store/deletion/sql-expiry-and-deletion-store.ts'
import { createUpstreamRequestStore } from '../../src/store/upstream-requests/sql-upstream-request-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import type {
  UpstreamRequestStore,
  ToolRoundRequest,
  SentRequest,
} from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { createItemTextCache } from '../../src/store/upstream-requests/item-text-cache.ts'
import { recordRoundTrips } from './record-round-trips.ts'
import type { OpenEngine } from './engines.ts'
import { createEnding, newId, newTurn, nextTurn, user } from './turns.ts'

export function testStoredRequests(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let requests: UpstreamRequestStore
  let owner: { tenant: string; user: string | null }
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    requests = createUpstreamRequestStore(engine, encryption)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    owner = { tenant: newId(), user: null }
  })

  const storeRounds = async (
    parent: NewTurn | null,
    rounds: readonly SentRequest[],
  ): Promise<NewTurn> => {
    const turn = parent === null ? newTurn(owner) : nextTurn(parent)
    await store.openTurn(turn)
    await store.closeTurn(createEnding(turn))
    await requests.saveRequests(owner, turn.id, async () => ({
      requests: rounds,
      baseTurnId: turn.parent,
    }))
    return turn
  }
  const storeRequest = (parent: NewTurn | null, sent: SentRequest) => storeRounds(parent, [sent])
  const textOf = (body: string): SentRequest => ({
    body,
    items: `[\n${body.length}\n]`,
    about: `{"chars":${body.length}}`,
  })
  const onlyRound = (body: string) => ({ ...textOf(body), round: 0, roundCount: 1 })
  /** Reads with a new store, whose cache is empty. */
  const readWithNewStore = (
    id: string,
    of = owner,
    round?: number,
  ): Promise<ToolRoundRequest | null> =>
    createUpstreamRequestStore(engine, encryption).loadRequest(of, id, round)
  /** Counts the bytes that the work writes. */
  const countWrittenBytes = async (work: () => Promise<unknown>): Promise<number> => {
    const { engine: counted, trips } = recordRoundTrips(engine)
    requests = createUpstreamRequestStore(counted, encryption)
    await work()
    requests = createUpstreamRequestStore(engine, encryption)
    const writes = trips.filter(({ verb }) => verb === 'write').flatMap(({ queries }) => queries)
    return JSON.stringify(writes.map(({ parameters }) => parameters)).length
  }

  test('every request of a long conversation is restored exactly', async () => {
    const ids: string[] = []
    const bodies: string[] = []
    let turn: NewTurn | null = null
    let body = ''
    for (let at = 0; at < 70; at += 1) {
      body = at % 11 === 10 ? body.replace('Frage', 'question') : `${body}Frage ${at} 😀 "\\u0000" `
      turn = await storeRequest(turn, textOf(`{"a":"${body}","z":${at % 3}}`))
      ids.push(turn.id)
      bodies.push(`{"a":"${body}","z":${at % 3}}`)
    }
    for (const at of [0, 1, 31, 32, 33, 69]) {
      expect(await readWithNewStore(ids[at] ?? '')).toEqual(onlyRound(bodies[at] ?? ''))
      expect(await requests.loadRequest(owner, ids[at] ?? '')).toEqual(onlyRound(bodies[at] ?? ''))
    }
  })

  test('the stored requests of a conversation take only the space of its new text', async () => {
    const turn = 'x'.repeat(2_000)
    let last: NewTurn | null = null
    const written = await countWrittenBytes(async () => {
      for (let at = 1; at <= 60; at += 1) last = await storeRequest(last, textOf(turn.repeat(at)))
    })
    // The new text of sixty turns is 120 kB; the complete requests are 3.7 MB.
    expect(written).toBeLessThan(500_000)
  })

  test('a request that is too long for a row is split, and not inside of a character', async () => {
    const turn = await storeRequest(null, textOf(`a${'😀'.repeat(500_000)}`))
    expect(await readWithNewStore(turn.id)).toEqual(onlyRound(`a${'😀'.repeat(500_000)}`))
  })

  test('text that a request and its items contain is stored once, and restored exactly', async () => {
    const texts = createItemTextCache(8_000_000)
    store = createTurnStore(engine, encryption, texts)
    requests = createUpstreamRequestStore(engine, encryption, { texts })
    const questions = Array.from({ length: 20 }, (_, at) => `${at}: "naïve" 😀\n`.repeat(40))
    const messages = questions.map((content) => ({ role: 'user', content }))
    const input = questions.map(user)
    const first = newTurn({ ...owner, input })
    await store.openTurn(first)
    const sent = textOf(JSON.stringify({ messages }))
    await requests.saveRequests(owner, first.id, async () => ({
      requests: [sent],
      baseTurnId: null,
    }))
    const more = [...messages, { role: 'user', content: 'and more '.repeat(800) }]
    const second = nextTurn(first, { input: [user(more.at(-1)?.content ?? '')] })
    await store.openTurn(second)
    const next = textOf(JSON.stringify({ messages: more }))
    const rounds = [next, textOf(`${next.body} `)]
    await requests.saveRequests(owner, second.id, async () => ({
      requests: rounds,
      baseTurnId: first.id,
    }))
    const sql = `select sum(length(body)) as chars from requests where tenant = '${owner.tenant}'`
    const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
    expect(Number((row as { readonly chars: number | string }).chars)).toBeLessThan(8_000)
    expect(await readWithNewStore(first.id)).toEqual(onlyRound(sent.body))
    expect(await readWithNewStore(second.id)).toMatchObject({ body: `${next.body} `, round: 1 })
    expect(await readWithNewStore(second.id, owner, 0)).toMatchObject({ body: next.body, round: 0 })
    // Without the items the request cannot be restored, and the next one is stored completely.
    const deleteItems = `delete from items where turn_id = '${first.id}'`
    await engine.write([{ name: null, sql: deleteItems, parameters: [] }])
    expect(await readWithNewStore(second.id)).toBeNull()
    requests = createUpstreamRequestStore(engine, encryption)
    const third = await storeRequest(second, next)
    expect(await readWithNewStore(third.id)).toEqual(onlyRound(next.body))
  })

  test('media that a request and its items contain are stored once', async () => {
    const base64 = 'QUJDREVG'.repeat(20_000)
    const image = { type: 'input_image', image_url: `data:image/png;base64,${base64}` } as const
    const message = { type: 'message', role: 'user', content: [image] } as const
    const first = newTurn({ ...owner, input: [message] })
    await store.openTurn(first)
    const bodies = ['', 'and', 'so on'].map((more) =>
      JSON.stringify({ input: [message, { source: { data: base64 } }, more] }),
    )
    const [one = '', two = '', three = ''] = bodies
    const sent = textOf(one)
    await requests.saveRequests(owner, first.id, async () => ({
      requests: [sent],
      baseTurnId: null,
    }))
    const second = await storeRequest(first, textOf(two))
    const { engine: countWrittenBytes, trips } = recordRoundTrips(engine)
    requests = createUpstreamRequestStore(countWrittenBytes, encryption)
    const third = await storeRequest(second, textOf(three))
    requests = createUpstreamRequestStore(engine, encryption)
    const writes = trips.filter(({ verb }) => verb === 'write').flatMap(({ queries }) => queries)
    expect(JSON.stringify(writes).length).toBeLessThan(10_000)
    for (const [at, turn] of [first, second, third].entries()) {
      expect((await readWithNewStore(turn.id))?.body).toBe(bodies[at])
      expect((await requests.loadRequest(owner, turn.id))?.body).toBe(bodies[at])
    }
    const rows = `select count(*) as n, (select max(length(body)) from requests
      where tenant = '${owner.tenant}') as longest from media where tenant = '${owner.tenant}'`
    const [[row] = []] = await engine.read([{ name: null, sql: rows, parameters: [] }])
    expect(row).toMatchObject({ n: 1 })
    expect((row as { readonly longest: number }).longest).toBeLessThan(1_000)
  })

  test('the request of every round of an answer is stored, and that of the last round is returned by default', async () => {
    const words = 'x'.repeat(3_000)
    const bodies = Array.from({ length: 9 }, (_, at) => `${words} ${'round '.repeat(at)}`)
    const turn = await storeRounds(null, bodies.map(textOf))
    for (const load of [
      readWithNewStore,
      (id: string, of: typeof owner, round?: number) => requests.loadRequest(of, id, round),
    ]) {
      for (const [round, body] of bodies.entries()) {
        expect(await load(turn.id, owner, round)).toEqual({ ...textOf(body), round, roundCount: 9 })
      }
      expect(await load(turn.id, owner)).toMatchObject({ round: 8, roundCount: 9, body: bodies[8] })
      expect(await load(turn.id, owner, 9)).toBeNull()
      expect(await load(turn.id, { ...owner, user: 'ada' }, 1)).toBeNull()
    }
  })

  test('the first request of the next turn is stored as the difference to that of the last round', async () => {
    const piece = (at: number) => `${at}`.padEnd(2_000, 'xyz')
    const bodies = Array.from({ length: 80 }, (_, at) =>
      Array.from({ length: at + 1 }, (_, one) => piece(one)).join(''),
    )
    const turns: NewTurn[] = []
    const written = await countWrittenBytes(async () => {
      for (let at = 0; at < bodies.length; at += 8) {
        const rounds = bodies.slice(at, at + 8).map(textOf)
        turns.push(await storeRounds(turns.at(-1) ?? null, rounds))
      }
    })
    // The new text is 160 kB; a third of it is part of three complete requests. All requests are
    // 6.5 MB.
    expect(written).toBeLessThan(800_000)
    for (const [at, body] of bodies.entries()) {
      const { id } = turns[Math.floor(at / 8)] ?? newTurn()
      expect((await readWithNewStore(id, owner, at % 8))?.body).toBe(body)
    }
  })

  test('the request of every round is split into pieces, each encrypted for a position of its own', async () => {
    const [one, two] = ['a'.repeat(900_000), 'b'.repeat(500_000)]
    const turn = await storeRounds(null, [textOf(one), textOf(two), textOf(one)])
    expect((await readWithNewStore(turn.id, owner, 0))?.body).toBe(one)
    expect((await readWithNewStore(turn.id, owner, 1))?.body).toBe(two)
    expect((await readWithNewStore(turn.id, owner, 2))?.body).toBe(one)
    const rows = `select count(distinct piece) as pieces, count(*) as n from requests
      where turn_id = '${turn.id}' and part = 'body'`
    const [[row] = []] = await engine.read([{ name: null, sql: rows, parameters: [] }])
    expect(row).toMatchObject({ pieces: 8, n: 8 })
  })

  test('a medium that the requests of several rounds contain is stored once', async () => {
    const base64 = 'QUJDREVG'.repeat(20_000)
    const shown = JSON.stringify({ source: { data: base64 } })
    const bodies = ['{}', shown, '{}', shown]
    let turn = newTurn()
    const written = await countWrittenBytes(async () => {
      turn = await storeRounds(null, bodies.map(textOf))
    })
    expect(written).toBeLessThan(1.5 * base64.length)
    for (const [round, body] of bodies.entries()) {
      expect((await readWithNewStore(turn.id, owner, round))?.body).toBe(body)
    }
  })

  test('loadRequest takes one round trip, and none for the latest request', async () => {
    const first = await storeRequest(null, textOf('one'))
    const second = await storeRequest(first, textOf('one two'))
    const counted = recordRoundTrips(engine)
    const fresh = createUpstreamRequestStore(counted.engine, encryption)
    await fresh.loadRequest(owner, second.id)
    expect(counted.trips).toHaveLength(1)
    await fresh.loadRequest(owner, second.id)
    expect(counted.trips).toHaveLength(1)
  })

  test('loadRequest claims the memory of a large request that is not cached (C158)', async () => {
    const body = randomBytes(150_000).toString('base64')
    const { id } = await storeRequest(null, textOf(body))
    const fresh = createUpstreamRequestStore(engine, encryption)
    let claimed = 0
    const claim = ({ bytes }: { bytes: number }) => void (claimed += bytes)
    const reject = () => {
      throw new Error('There is no memory left.')
    }
    const load = (claimMemory: typeof claim) =>
      fresh.loadRequest(owner, id, undefined, 'fail', claimMemory)
    await expect(load(reject)).rejects.toThrow('no memory left')
    expect(await load(claim)).toMatchObject({ body })
    expect(claimed).toBeGreaterThan(190_000)
    expect(await load(reject)).toMatchObject({ body })
  })

  test("loadRequest waits for the pending write of the turn's requests", async () => {
    const turn = newTurn(owner)
    await store.openTurn(turn)
    const { promise, resolve } = Promise.withResolvers<null>()
    const keeping = requests.saveRequests(owner, turn.id, async () => {
      await promise
      return { requests: [textOf('late')], baseTurnId: null }
    })
    const reading = requests.loadRequest(owner, turn.id)
    resolve(null)
    expect(await reading).toEqual(onlyRound('late'))
    await keeping
  })

  test('loadRequest finds no request of another owner, not even of another user of the tenant', async () => {
    const turn = await storeRequest(null, textOf('mine'))
    expect(await requests.loadRequest({ tenant: newId(), user: null }, turn.id)).toBeNull()
    expect(await requests.loadRequest({ ...owner, user: 'ada' }, turn.id)).toBeNull()
    expect(await readWithNewStore(turn.id, { ...owner, user: 'ada' })).toBeNull()
    expect(await requests.loadRequest(owner, newId())).toBeNull()
  })

  test('a stored request is deleted with its turn', async () => {
    const parent = await storeRequest(null, textOf('one'))
    const turn = await storeRequest(parent, textOf('one two'))
    const deletion = { ...owner, turnId: turn.id, dialect: 'responses', nowMs: 1 }
    expect(await createTurnManagementStore(engine, encryption).deleteTurn(deletion)).toBe('deleted')
    expect(await readWithNewStore(turn.id)).toBeNull()
    expect(await readWithNewStore(parent.id)).toEqual(onlyRound('one'))
    await createExpiryAndDeletionStore(engine).deleteThread({
      ...owner,
      turnId: parent.id,
      nowMs: 1,
    })
    expect(await readWithNewStore(parent.id)).toBeNull()
  })

  test('no request is stored for a turn that was deleted meanwhile, which is no error', async () => {
    const id = newId()
    const keeping = requests.saveRequests(owner, id, async () => ({
      requests: [textOf('stray')],
      baseTurnId: null,
    }))
    await expect(keeping).resolves.toBeUndefined()
    expect(await requests.loadRequest(owner, id)).toBeNull()
  })
}
