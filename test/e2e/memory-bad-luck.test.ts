/**
 * A memory that fails costs memory and nothing else: the answer comes, whole, also if it never answers;
 * what was not kept is not promised; it is told once; and a memory that is back is used at once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failingMemory, WELL, type FailingMemory, type Mood } from '../support/failing-memory.ts'
import { frailLine, type FrailLine } from '../support/frail-line.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { createDatabase } from '../support/postgres.ts'
import { askInText, goneOn, type Message, type Told } from '../support/text-client.ts'
import { answerSse, startUpstream, type Received, type Upstream } from '../support/upstream.ts'
import { chatStream, speak } from '../support/wires.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

const UNREACHED = 'The memory could not be reached'
const FIRST = 'It warns ships.\n\n'
const LAST = 'And it guides them home.'

/** Of a chat by its name and of a round by its number is said, and thought, what no other says. */
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream((response, received) => {
    const chat = chatOf(received)
    const round = messagesOf(received).filter(({ role }) => role === 'user').length
    const thought = `Thought ${round} of ${chat}.`
    const text = wordsOf(round)
    if (received.json['stream'] !== true)
      return speak({ reasoning: thought, text })(response, received)
    const before = chatStream({ reasoning: thought, text: FIRST }).slice(0, -3)
    const behind = chatStream({ reasoning: 'And more.', text: text.slice(FIRST.length) }).slice(1)
    return answerSse([...before, ...behind], 'end', STEP_MS)(response, received)
  })
})
afterAll(() => upstream.close())

function wordsOf(round: number): string {
  return `${FIRST}${LAST} (${round})`
}

/** Slowly enough for what is journaled to be written one by one. */
const STEP_MS = 15

function messagesOf({ json }: Received): readonly Message[] {
  return json['messages'] as readonly Message[]
}

function chatOf(received: Received): string {
  return /chat \S+/.exec(messagesOf(received)[0]?.content ?? '')?.[0] ?? ''
}

let chats = 0
function newChat(): { readonly name: string; readonly hello: readonly Message[] } {
  chats += 1
  const name = `chat ${chats}`
  return { name, hello: [{ role: 'user', content: `What is a lighthouse for? This is ${name} .` }] }
}

/** The numbers of the rounds whose thoughts the upstream was given back last. */
function thoughtsSent(chat: string): readonly number[] {
  const last = upstream.received.findLast((received) => chatOf(received) === chat)
  return [...(last?.text ?? '').matchAll(/Thought (\d+) of (chat \d+)/g)].map(
    ([, round, whose]) => {
      expect(whose).toBe(chat)
      return Number(round)
    },
  )
}

function start(databaseUrl = 'sqlite::memory:'): Promise<Gateway> {
  const quirks = { reasoningField: 'reasoning_content', reasoningOn: 'all' }
  const settings = {
    DATABASE_URL: databaseUrl,
    DRAIN_SECONDS: '1',
    ...upstreams({ name: 'c', wire: 'chat', baseUrl: upstream.url, quirks }),
  }
  return startGateway(settings, { unexplained: 'Its memory fails on purpose.' })
}

/** What was logged, but for what is always said. */
function linesOf(gateway: Gateway): readonly string[] {
  return gateway.log
    .filter(({ level }) => level !== 'info')
    .map(({ event }) => event)
    .toSorted()
}

async function explained(gateway: Gateway, chat: readonly Message[]): Promise<readonly string[]> {
  const response = await gateway.post('/v1/context/explain', { model: 'm', messages: chat })
  const { notes } = (await response.json()) as { notes: readonly { readonly why: string }[] }
  return notes.map(({ why }) => why)
}

interface Case {
  readonly mood: Mood
  readonly isRead: boolean
  readonly log: readonly string[]
}

const always =
  (mishap: ReturnType<Mood>): Mood =>
  () =>
    mishap
const only =
  (mishap: ReturnType<Mood>, ...verbs: readonly string[]): Mood =>
  (verb) =>
    verbs.includes(verb) ? mishap : 'none'
const WRITES = ['openTurn', 'journalItems', 'closeTurn'] as const

const CASES: Readonly<Record<string, Case>> = {
  'never answers': {
    mood: always('hangs'),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
  },
  'takes three seconds': {
    mood: always(3_000),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
  },
  fails: {
    mood: always('fails'),
    isRead: false,
    log: ['not-recalled', 'turn-not-opened'],
  },
  'cannot be read': {
    mood: only('fails', 'findTurns'),
    isRead: false,
    log: ['not-recalled'],
  },
  'can only be read': {
    mood: only('fails', ...WRITES),
    isRead: true,
    log: ['turn-not-opened'],
  },
  'is full once the turn is open': {
    mood: only('fails', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['items-not-journaled', 'turn-not-closed'],
  },
  'loses what is written on the way': {
    mood: only('fails', 'journalItems'),
    isRead: true,
    log: ['items-not-journaled'],
  },
  'fails at the very end': {
    mood: only('fails', 'closeTurn'),
    isRead: true,
    log: ['turn-not-closed'],
  },
  'falls silent at the very end': {
    mood: only('hangs', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
  },
  'takes a moment': {
    mood: always(100),
    isRead: true,
    log: [],
  },
  'falls silent in the middle': {
    mood: only('hangs', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
  },
}

test.concurrent('an answer that was asked to be stored does not wait for ever', async () => {
  const gateway = await start()
  const memory = failingMemory(gateway.dependencies)
  memory.mood = always('hangs')
  const ask = (stored: object) =>
    gateway.post('/v1/responses', { model: 'm', input: 'What is it for?', ...stored })
  upstream.received.splice(0)
  const [must, may, need] = await Promise.all([
    ask({ store: true }),
    ask({}),
    ask({ store: false }),
  ])
  expect(must.status).toBe(503)
  expect(await must.json()).toMatchObject({ error: { code: 'store_unavailable' } })
  for (const answer of [may, need]) {
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ status: 'completed', store: false })
  }
  await gateway.close()
})

interface Client {
  readonly isOpenWebUi: boolean
  readonly stream: boolean
}

const CLIENTS: readonly Client[] = [
  { isOpenWebUi: true, stream: true },
  { isOpenWebUi: true, stream: false },
  { isOpenWebUi: false, stream: true },
  { isOpenWebUi: false, stream: false },
]

describe.concurrent.each(Object.entries(CASES))('a memory that %s', (_, luck) => {
  test('costs nobody a word (C8)', async () => {
    await Promise.all(
      CLIENTS.map((client) =>
        talkThrough(luck, client).catch((cause: unknown) => {
          throw new Error(`With ${JSON.stringify(client)}: ${String(cause)}`, { cause })
        }),
      ),
    )
  })
})

async function talkThrough(luck: Case, { isOpenWebUi, stream }: Client): Promise<void> {
  const gateway = await start()
  const memory = failingMemory(gateway.dependencies)
  const ask = (chat: readonly Message[]) =>
    askInText({ url: gateway.url, chat, isOpenWebUi, stream })
  const { name, hello } = newChat()
  const first = await ask(hello)
  const second = goneOn(hello, first, 'And at noon?')
  memory.mood = luck.mood

  const told = await ask(second)
  expectWhole(told, 2)
  await expectDurable(told, memory)
  expect(thoughtsSent(name)).toEqual(luck.isRead ? [1] : [])
  const isWarned = !luck.isRead && isOpenWebUi && stream
  expect(told.statusLines).toEqual(isWarned ? [expect.stringContaining(UNREACHED)] : [])
  expect(linesOf(gateway)).toEqual(
    luck.log.filter((event) => stream || event !== 'items-not-journaled'),
  )
  if (!luck.isRead) expect(await explained(gateway, second)).toContain('memory-not-reached')

  memory.mood = WELL
  const third = goneOn(second, told, 'And at night?')
  const again = await ask(third)
  expectWhole(again, 3)
  expect(thoughtsSent(name)).toContain(1)
  expectWhole(await ask(goneOn(third, again, 'Thanks.')), 4)
  expect(thoughtsSent(name)).toEqual(expect.arrayContaining([1, 3]))
  await gateway.close()
}

function expectWhole(told: Told, round: number): void {
  expect(told).toMatchObject({ status: 200, isWhole: true })
  // An Open WebUI is told two messages apart.
  expect(told.words.replace(/\s+/g, ' ')).toBe(wordsOf(round).replace(/\s+/g, ' '))
}

/** Whatever an answer names must be there, with what was thought. */
async function expectDurable({ turnIds }: Told, memory: FailingMemory): Promise<void> {
  for (const turnId of turnIds) {
    const keys = { tenant: 'local', user: null, callIds: [], fingerprints: [] }
    const [turn] = (await memory.findTurns({ ...keys, turnIds: [turnId] })).turns
    expect(turn?.output.map(({ type }) => type)).toContain('reasoning')
  }
}

/** Real ones, in trouble as it comes: each is broken, and later mended. */
interface Trouble {
  readonly url: string
  readonly break: () => void | Promise<void>
  readonly mend: () => void | Promise<void>
  readonly close: () => Promise<void>
}

interface Real {
  readonly start: () => Promise<Trouble>
  readonly isRead: boolean
  readonly log: readonly string[]
  /** Whether what was said meanwhile is kept after all. */
  readonly isKept: boolean
}

const REAL: Readonly<Record<string, Real>> = {
  'a SQLite file that somebody else writes to without end': {
    start: () =>
      brokenFile(
        (other) => other.exec('begin immediate'),
        (other) => other.exec('rollback'),
      ),
    isRead: true,
    log: ['turn-late'],
    isKept: true,
  },
  'a SQLite file with no room for another item': {
    start: () =>
      brokenFile(
        (other) =>
          other.exec(`create trigger no_room before insert on items when new.side = 'out'
            begin select raise(abort, 'database or disk is full'); end`),
        (other) => other.exec('drop trigger no_room'),
      ),
    isRead: true,
    log: ['items-not-journaled', 'turn-not-closed'],
    isKept: false,
  },
  'a Postgres that falls silent': {
    start: () => brokenLine((line) => line.silence()),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
    isKept: true,
  },
  'a Postgres that is gone': {
    start: () => brokenLine((line) => line.cut()),
    isRead: false,
    log: ['not-recalled', 'turn-not-opened'],
    isKept: false,
  },
}

async function brokenFile(
  broken: (other: DatabaseSync) => void,
  mended: (other: DatabaseSync) => void,
): Promise<Trouble> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-bad-luck-'))
  const path = join(folder, 'backstory.db')
  let other: DatabaseSync | null = null
  return {
    url: `sqlite:${path}`,
    break() {
      other = new DatabaseSync(path, { timeout: 5_000 })
      broken(other)
    },
    mend: () => void (other !== null && mended(other)),
    async close() {
      other?.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function brokenLine(broken: (line: FrailLine) => void | Promise<void>): Promise<Trouble> {
  const database = await createDatabase()
  const url = new URL(database.url)
  const line = await frailLine({ port: Number(url.port) })
  url.port = String(line.port)
  return {
    url: url.href,
    break: () => broken(line),
    mend: line.mend,
    async close() {
      await line.close()
      await database.drop()
    },
  }
}

describe.concurrent.each(Object.entries(REAL))('%s', (_, luck) => {
  test('takes nothing away from a chat but, for a while, its memory (C8)', async ({ expect }) => {
    const trouble = await luck.start()
    const gateway = await start(trouble.url)
    const ask = (chat: readonly Message[]) =>
      askInText({ url: gateway.url, chat, isOpenWebUi: true })
    const { name, hello } = newChat()
    const first = await ask(hello)
    expect(first.turnIds).toHaveLength(1)
    const second = goneOn(hello, first, 'And at noon?')
    await trouble.break()

    const told = await ask(second)
    expectWhole(told, 2)
    expect(thoughtsSent(name)).toEqual(luck.isRead ? [1] : [])
    const lines = linesOf(gateway).filter((event) => /recall|turn|items/.test(event))
    expect(lines).toEqual(luck.log)

    await trouble.mend()
    const third = goneOn(second, told, 'And at night?')
    const kept = luck.isKept ? [1, 2] : [1]
    await expect
      .poll(async () => (expectWhole(await ask(third), 3), thoughtsSent(name)), {
        timeout: 10_000,
      })
      .toEqual(kept)
    const again = await ask(third)
    expectWhole(await ask(goneOn(third, again, 'Thanks.')), 4)
    expect(thoughtsSent(name)).toEqual([...kept, 3])
    await gateway.close()
    await trouble.close()
  })
})
