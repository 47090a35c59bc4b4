/**
 * Kills gateways at random moments and then checks everything that clients received: nothing is lost,
 * repeated or in progress forever. `npm test` kills a few times; `SOAK_ROUNDS=1000` kills 1000 times.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { expectReceivedIfStored } from '../support/compare-explanations.ts'
import { decodeFrames } from '../support/logs.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { readStream, type ReadEvent } from '../support/sse-reader.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

const ROUNDS = Number(process.env['SOAK_ROUNDS'] ?? 2)
const STREAMS = 12
const LEASE_MS = 1_000

/**
 * An upstream that answers late, so that some gateways are killed while they wait and another one
 * repeats the request.
 */
let upstream: Upstream
const LATE = 'It took a while.'
beforeAll(async () => {
  upstream = await startUpstream(async (response, received) => {
    await aMoment(Math.random() * 400)
    await answerWith({ reasoning: 'Hm.', text: LATE })(response, received)
  })
})

function environment(databaseUrl: string): Readonly<Record<string, string>> {
  const late = { baseUrl: upstream.url, apiKey: 'sk-any' }
  return {
    DATABASE_URL: databaseUrl,
    RUN_LEASE_SECONDS: String(LEASE_MS / 1000),
    UPSTREAMS: JSON.stringify([
      { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 2 } },
      { name: 'c', wire: 'chat', models: ['late-chat'], ...late },
      { name: 'r', wire: 'responses', models: ['late-responses'], ...late },
    ]),
  }
}

/** The part of an answer that a client had received when its gateway was killed. */
interface Seen {
  readonly kind: Kind
  readonly id: string
  readonly events: readonly ReadEvent[]
  /** Expected final text. */
  readonly text: string
}

/** Kinds of requests: streamed, background, and the upstream that answers. */
const KINDS = {
  background: [true, true, 'demo'],
  polled: [false, true, 'demo'],
  resumable: [true, false, 'demo'],
  ordinary: [true, false, 'demo'],
  'late over chat': [true, true, 'late-chat'],
  'late over responses': [false, true, 'late-responses'],
} as const
type Kind = keyof typeof KINDS

const folder = mkdtempSync(join(tmpdir(), 'backstory-kill-'))
let database: TestDatabase | null = null
/** Counts the final states by kind of request, printed for many rounds. */
const tally = new Map<string, number>()
afterAll(async () => {
  if (process.env['SOAK_ROUNDS'] !== undefined) {
    const lines = [...tally].map(([what, count]) => `${what}: ${count}\n`)
    process.stderr.write(lines.toSorted((one, other) => (one < other ? -1 : 1)).join(''))
  }
  await upstream.close()
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe.concurrent('gateways that are killed at random moments', () => {
  test(
    'killed gateways lose no answer if they are restarted on the same SQLite file',
    async () => {
      const own = environment(`sqlite:${folder}/backstory.db`)
      let victim = await startChild(own)
      for (let round = 0; round < ROUNDS; round += 1) {
        const seen = await killedAmid(victim)
        victim = await startChild(own)
        await everythingIsTrue(victim, seen)
      }
      await victim.kill('SIGKILL')
    },
    60_000 + ROUNDS * 20_000,
  )

  test(
    'killed gateways lose no answer if another gateway uses the same Postgres database',
    async () => {
      database = await createDatabase()
      const own = environment(database.url)
      let [victim, witness] = await Promise.all([startChild(own), startChild(own)])
      for (let round = 0; round < ROUNDS; round += 1) {
        const seen = await killedAmid(victim)
        // The gateway that has just verified everything is killed next.
        const [fresh] = await Promise.all([startChild(own), everythingIsTrue(witness, seen)])
        victim = witness
        witness = fresh
      }
      await Promise.all([victim.kill('SIGKILL'), witness.kill('SIGKILL')])
    },
    60_000 + ROUNDS * 20_000,
  )
})

async function killedAmid(gateway: ChildGateway): Promise<readonly Seen[]> {
  const kinds = Object.keys(KINDS) as Kind[]
  const asking = Array.from({ length: STREAMS }, (_, at) => {
    const words = Math.floor(Math.random() * 80)
    const text = `I say ${words} words: ${'la '.repeat(words).trim()}`
    return ask(gateway, kinds[at % kinds.length] ?? 'background', text)
  })
  await aMoment(20 + Math.random() * 250)
  await gateway.kill('SIGKILL')
  return (await Promise.all(asking)).filter((seen) => seen !== null)
}

/** Null if the gateway was killed before it sent an id. */
async function ask({ url }: ChildGateway, kind: Kind, text: string): Promise<Seen | null> {
  const [stream, background, model] = KINDS[kind]
  const init = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(kind === 'resumable' ? { 'x-backstory-resumable': 'true' } : {}),
    },
    body: JSON.stringify({
      input: `/think Hm.\n/say ${text}`,
      model,
      stream,
      background,
    }),
  }
  await aMoment(Math.random() * 60)
  try {
    const read = await readStream(`${url}/v1/responses`, init)
    const id = /resp_[0-9A-Z]{20}/.exec(read.text)?.[0]
    return id === undefined
      ? null
      : {
          kind,
          id,
          text: model === 'demo' ? text : LATE,
          events: read.events,
        }
  } catch {
    return null
  }
}

async function everythingIsTrue(gateway: ChildGateway, all: readonly Seen[]): Promise<void> {
  const deadline = Date.now() + LEASE_MS * 4
  await Promise.all(all.map((seen) => isTrue(gateway, seen, deadline)))
}

interface Shown {
  readonly status: string
  readonly error: { readonly message: string } | null
  readonly output: readonly { readonly type: string; readonly id: string }[]
  readonly output_text?: string
}

async function isTrue(gateway: ChildGateway, seen: Seen, deadline: number): Promise<void> {
  const { url } = gateway
  const path = `${url}/v1/responses/${seen.id}`
  const read = async () => (await (await fetch(path)).json()) as Shown
  let response = await read()
  const isOpen = () => /queued|in_progress/.test(response.status)
  const wasOpen = isOpen()
  while (isOpen() && Date.now() < deadline) {
    await aMoment(50)
    response = await read()
  }
  const { status, output } = response
  expect(['completed', 'failed', 'cancelled']).toContain(status)
  count(`${seen.kind} ${status}, ${seen.events.length === 0 ? 'untold' : 'told'}`)
  if (status === 'failed') expect(response.error?.message).toMatch(/gateway was stopped/)
  const types = output.map(({ type }) => type)
  expect(['reasoning', 'message'].slice(0, types.length)).toEqual(types)
  if (status === 'completed') {
    expect(types).toHaveLength(2)
    expect(JSON.stringify(output[1])).toContain(JSON.stringify(seen.text))
    // Requests to the demo model stay in the process.
    if (seen.text === LATE) await requestIsTrue(gateway, seen, wasOpen)
  }
  const wasTold = (type: string): boolean => seen.events.some((event) => event.type === type)
  if (wasTold('response.completed')) expect(status).toBe('completed')
  if (seen.kind === 'ordinary') return
  const log = await readStream(`${path}?stream=true`)
  const isLogged = log.status === 200
  if (seen.kind !== 'resumable') expect(isLogged).toBe(true)
  if (!isLogged) return expect(seen.events).toEqual([])
  // The stored log repeats everything that the client received, followed by a valid ending.
  expect(log.events.slice(0, seen.events.length)).toEqual(seen.events)
  expect(responsesFaults(decodeFrames(log.text), { wholeResponses: false })).toEqual([])
  expect(log.events.at(-1)?.type).toBe(`response.${status}`)
  const rest = await readStream(`${path}?stream=true&starting_after=${seen.events.length - 1}`)
  if (seen.events.length > 0) expect(rest.events).toEqual(log.events.slice(seen.events.length))
  // Items that the client saw end are stored.
  const told = seen.events.filter(({ type }) => type === 'response.output_item.done')
  const done = told.map(({ data }) => (JSON.parse(data) as { item: { id: string } }).item)
  expect(output.slice(0, done.length)).toMatchObject(done)
}

/**
 * The gateway that ended an answer may have been killed before it stored the request; a live gateway
 * stores it.
 */
async function requestIsTrue(gateway: ChildGateway, seen: Seen, wasOpen: boolean): Promise<void> {
  // A received answer means one upstream request, which is not repeated once it is stored.
  const deadline = Date.now() + (wasOpen ? LEASE_MS * 4 : 0)
  let kept = await expectReceivedIfStored(gateway, seen.id)
  while (kept === 'not kept' && Date.now() < deadline) {
    await aMoment(50)
    kept = await expectReceivedIfStored(gateway, seen.id)
  }
  if (wasOpen) expect(kept).toBe('kept')
  count(`${seen.kind} ended ${wasOpen ? 'since' : 'before'}, its request ${kept}`)
}

function count(what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1)
}

function aMoment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
