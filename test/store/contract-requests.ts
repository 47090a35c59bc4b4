/** What every database must do to keep what was sent. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createTurnManagementStore } from '../../src/store/turns/kysely-turn-management-store.ts'
import { createRecallStore } from '../../src/store/recall/kysely-recall-store.ts'
import { createUpstreamRequestStore } from '../../src/store/upstream-requests/kysely-upstream-request-store.ts'
import { createTurnStore } from '../../src/store/turns/kysely-turn-store.ts'
import type {
  UpstreamRequestStore,
  RoundRequest,
  SentRequest,
} from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import { createItemTextCache } from '../../src/store/upstream-requests/item-text-cache.ts'
import { counting } from './counting.ts'
import type { OpenEngine } from './engines.ts'
import { ending, newId, newTurn, nextTurn, user } from './turns.ts'

export function requestContract(open: OpenEngine, vault: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let requests: UpstreamRequestStore
  let owner: { tenant: string; user: string | null }
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, vault)
    requests = createUpstreamRequestStore(engine, vault)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    owner = { tenant: newId(), user: null }
  })

  const toldIn = async (
    parent: NewTurn | null,
    rounds: readonly SentRequest[],
  ): Promise<NewTurn> => {
    const turn = parent === null ? newTurn(owner) : nextTurn(parent)
    await store.openTurn(turn)
    await store.closeTurn(ending(turn))
    await requests.keepRequest(owner, turn.id, async () => ({ rounds, base: turn.parent }))
    return turn
  }
  const told = (parent: NewTurn | null, sent: SentRequest) => toldIn(parent, [sent])
  const textOf = (body: string): SentRequest => ({
    body,
    items: `[\n${body.length}\n]`,
    about: `{"chars":${body.length}}`,
  })
  const only = (body: string) => ({ ...textOf(body), round: 0, rounds: 1 })
  /** Without what another one has at hand. */
  const readAgain = (id: string, of = owner, round?: number): Promise<RoundRequest | null> =>
    createUpstreamRequestStore(engine, vault).loadRequest(of, id, round)
  /** What is written meanwhile. */
  const watched = async (work: () => Promise<unknown>): Promise<number> => {
    const { engine: counted, trips } = counting(engine)
    requests = createUpstreamRequestStore(counted, vault)
    await work()
    requests = createUpstreamRequestStore(engine, vault)
    const writes = trips.filter(({ verb }) => verb === 'write').flatMap(({ queries }) => queries)
    return JSON.stringify(writes.map(({ parameters }) => parameters)).length
  }

  test('gives back every request of a long conversation, character by character', async () => {
    const ids: string[] = []
    const bodies: string[] = []
    let turn: NewTurn | null = null
    let body = ''
    for (let at = 0; at < 70; at += 1) {
      body = at % 11 === 10 ? body.replace('Frage', 'question') : `${body}Frage ${at} 😀 "\\u0000" `
      turn = await told(turn, textOf(`{"a":"${body}","z":${at % 3}}`))
      ids.push(turn.id)
      bodies.push(`{"a":"${body}","z":${at % 3}}`)
    }
    for (const at of [0, 1, 31, 32, 33, 69]) {
      expect(await readAgain(ids[at] ?? '')).toEqual(only(bodies[at] ?? ''))
      expect(await requests.loadRequest(owner, ids[at] ?? '')).toEqual(only(bodies[at] ?? ''))
    }
  })

  test('takes as much room for a conversation as for what is new in it', async () => {
    const turn = 'x'.repeat(2_000)
    let last: NewTurn | null = null
    const written = await watched(async () => {
      for (let at = 1; at <= 60; at += 1) last = await told(last, textOf(turn.repeat(at)))
    })
    // Sixty turns are 120 kB; all requests as they are would be 3.7 MB.
    expect(written).toBeLessThan(500_000)
  })

  test('cuts a request that no row would hold in pieces, and no character in half', async () => {
    const turn = await told(null, textOf(`a${'😀'.repeat(500_000)}`))
    expect(await readAgain(turn.id)).toEqual(only(`a${'😀'.repeat(500_000)}`))
  })

  test('keeps what a request says in the words of its items once, and gives it back as it was', async () => {
    const texts = createItemTextCache()
    store = createTurnStore(engine, vault, texts)
    requests = createUpstreamRequestStore(engine, vault, texts)
    const said = Array.from({ length: 20 }, (_, at) => `${at}: "naïve" 😀\n`.repeat(40))
    const messages = said.map((content) => ({ role: 'user', content }))
    const input = said.map(user)
    const first = newTurn({ ...owner, input })
    await store.openTurn(first)
    const sent = textOf(JSON.stringify({ messages }))
    await requests.keepRequest(owner, first.id, async () => ({ rounds: [sent], base: null }))
    const more = [...messages, { role: 'user', content: 'and more '.repeat(800) }]
    const second = nextTurn(first, { input: [user(more.at(-1)?.content ?? '')] })
    await store.openTurn(second)
    const next = textOf(JSON.stringify({ messages: more }))
    const rounds = [next, textOf(`${next.body} `)]
    await requests.keepRequest(owner, second.id, async () => ({ rounds, base: first.id }))
    const sql = `select sum(length(body)) as chars from requests where tenant = '${owner.tenant}'`
    const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
    expect(Number((row as { readonly chars: number | string }).chars)).toBeLessThan(8_000)
    expect(await readAgain(first.id)).toEqual(only(sent.body))
    expect(await readAgain(second.id)).toMatchObject({ body: `${next.body} `, round: 1 })
    expect(await readAgain(second.id, owner, 0)).toMatchObject({ body: next.body, round: 0 })
    // Without the items there is no telling, and what is told from it is whole again.
    const gone = `delete from items where turn_id = '${first.id}'`
    await engine.write([{ name: null, sql: gone, parameters: [] }])
    expect(await readAgain(second.id)).toBeNull()
    requests = createUpstreamRequestStore(engine, vault)
    const third = await told(second, next)
    expect(await readAgain(third.id)).toEqual(only(next.body))
  })

  test('keeps the media of a body once, with those of the items, and gives it back as it was', async () => {
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
    await requests.keepRequest(owner, first.id, async () => ({ rounds: [sent], base: null }))
    const second = await told(first, textOf(two))
    const { engine: watched, trips } = counting(engine)
    requests = createUpstreamRequestStore(watched, vault)
    const third = await told(second, textOf(three))
    requests = createUpstreamRequestStore(engine, vault)
    const writes = trips.filter(({ verb }) => verb === 'write').flatMap(({ queries }) => queries)
    expect(JSON.stringify(writes).length).toBeLessThan(10_000)
    for (const [at, turn] of [first, second, third].entries()) {
      expect((await readAgain(turn.id))?.body).toBe(bodies[at])
      expect((await requests.loadRequest(owner, turn.id))?.body).toBe(bodies[at])
    }
    const rows = `select count(*) as n, (select max(length(body)) from requests
      where tenant = '${owner.tenant}') as longest from media where tenant = '${owner.tenant}'`
    const [[row] = []] = await engine.read([{ name: null, sql: rows, parameters: [] }])
    expect(row).toMatchObject({ n: 1 })
    expect((row as { readonly longest: number }).longest).toBeLessThan(1_000)
  })

  test('keeps every round of an answer, and tells the last unless one is named', async () => {
    const words = 'x'.repeat(3_000)
    const bodies = Array.from({ length: 9 }, (_, at) => `${words} ${'round '.repeat(at)}`)
    const turn = await toldIn(null, bodies.map(textOf))
    for (const load of [
      readAgain,
      (id: string, of: typeof owner, round?: number) => requests.loadRequest(of, id, round),
    ]) {
      for (const [round, body] of bodies.entries()) {
        expect(await load(turn.id, owner, round)).toEqual({ ...textOf(body), round, rounds: 9 })
      }
      expect(await load(turn.id, owner)).toMatchObject({ round: 8, rounds: 9, body: bodies[8] })
      expect(await load(turn.id, owner, 9)).toBeNull()
      expect(await load(turn.id, { ...owner, user: 'ada' }, 1)).toBeNull()
    }
  })

  test('tells the next turn from the last round, and takes as much room as what is new', async () => {
    const piece = (at: number) => `${at}`.padEnd(2_000, 'xyz')
    const bodies = Array.from({ length: 80 }, (_, at) =>
      Array.from({ length: at + 1 }, (_, one) => piece(one)).join(''),
    )
    const turns: NewTurn[] = []
    const written = await watched(async () => {
      for (let at = 0; at < bodies.length; at += 8) {
        const rounds = bodies.slice(at, at + 8).map(textOf)
        turns.push(await toldIn(turns.at(-1) ?? null, rounds))
      }
    })
    // What is new are 160 kB, and a third of them is there as a whole three times: 6.5 MB in all.
    expect(written).toBeLessThan(800_000)
    for (const [at, body] of bodies.entries()) {
      const { id } = turns[Math.floor(at / 8)] ?? newTurn()
      expect((await readAgain(id, owner, at % 8))?.body).toBe(body)
    }
  })

  test('cuts every round in pieces, each sealed in a place of its own', async () => {
    const [one, two] = ['a'.repeat(900_000), 'b'.repeat(500_000)]
    const turn = await toldIn(null, [textOf(one), textOf(two), textOf(one)])
    expect((await readAgain(turn.id, owner, 0))?.body).toBe(one)
    expect((await readAgain(turn.id, owner, 1))?.body).toBe(two)
    expect((await readAgain(turn.id, owner, 2))?.body).toBe(one)
    const rows = `select count(distinct piece) as pieces, count(*) as n from requests
      where turn_id = '${turn.id}' and part = 'body'`
    const [[row] = []] = await engine.read([{ name: null, sql: rows, parameters: [] }])
    expect(row).toMatchObject({ pieces: 8, n: 8 })
  })

  test('keeps a medium once that comes and goes from round to round', async () => {
    const base64 = 'QUJDREVG'.repeat(20_000)
    const shown = JSON.stringify({ source: { data: base64 } })
    const bodies = ['{}', shown, '{}', shown]
    let turn = newTurn()
    const written = await watched(async () => {
      turn = await toldIn(null, bodies.map(textOf))
    })
    expect(written).toBeLessThan(1.5 * base64.length)
    for (const [round, body] of bodies.entries()) {
      expect((await readAgain(turn.id, owner, round))?.body).toBe(body)
    }
  })

  test('reads in one round trip, and the newest without any', async () => {
    const first = await told(null, textOf('one'))
    const second = await told(first, textOf('one two'))
    const counted = counting(engine)
    const fresh = createUpstreamRequestStore(counted.engine, vault)
    await fresh.loadRequest(owner, second.id)
    expect(counted.trips).toHaveLength(1)
    await fresh.loadRequest(owner, second.id)
    expect(counted.trips).toHaveLength(1)
  })

  test('who asks while it is being written waits for it', async () => {
    const turn = newTurn(owner)
    await store.openTurn(turn)
    const { promise, resolve } = Promise.withResolvers<null>()
    const keeping = requests.keepRequest(owner, turn.id, async () => {
      await promise
      return { rounds: [textOf('late')], base: null }
    })
    const asked = requests.loadRequest(owner, turn.id)
    resolve(null)
    expect(await asked).toEqual(only('late'))
    await keeping
  })

  test("is not there for somebody else, not even for another user of the tenant's", async () => {
    const turn = await told(null, textOf('mine'))
    expect(await requests.loadRequest({ tenant: newId(), user: null }, turn.id)).toBeNull()
    expect(await requests.loadRequest({ ...owner, user: 'ada' }, turn.id)).toBeNull()
    expect(await readAgain(turn.id, { ...owner, user: 'ada' })).toBeNull()
    expect(await requests.loadRequest(owner, newId())).toBeNull()
  })

  test('goes with its turn', async () => {
    const parent = await told(null, textOf('one'))
    const turn = await told(parent, textOf('one two'))
    const deletion = { ...owner, turnId: turn.id, dialect: 'responses', nowMs: 1 }
    expect(await createTurnManagementStore(engine, vault).deleteTurn(deletion)).toBe('deleted')
    expect(await readAgain(turn.id)).toBeNull()
    expect(await readAgain(parent.id)).toEqual(only('one'))
    await createRecallStore(engine, vault).forgetThread({ ...owner, turnId: parent.id, nowMs: 1 })
    expect(await readAgain(parent.id)).toBeNull()
  })

  test('keeps nothing for a turn that is not there', async () => {
    const keeping = requests.keepRequest(owner, newId(), async () => ({
      rounds: [textOf('stray')],
      base: null,
    }))
    await expect(keeping).rejects.toThrow(/foreign key/i)
  })
}
