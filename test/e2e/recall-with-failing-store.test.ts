/**
 * While the database fails, a text client loses only its recalled items: the answer is complete, even if the
 * database never responds; no marker or id names an answer that was not stored; the client sees one status
 * line; and a database that works again is used at once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  makeStoreFail,
  NO_FAULTS,
  type FailingStore,
  type FaultRule,
} from '../support/failing-store.ts'
import { startBreakableProxy, type BreakableProxy } from '../support/breakable-proxy.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { createDatabase } from '../support/postgres.ts'
import { askInText, addRound, type Message, type TextAnswer } from '../support/text-client.ts'
import { answerSse, startUpstream, type Received, type Upstream } from '../support/upstream.ts'
import { chatStream, answerWith } from '../support/answer-formats.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

const STATUS_LINE = 'The memory could not be reached'
const FIRST = 'It warns ships.\n\n'
const LAST = 'And it guides them home.'

/** Its text and reasoning name the chat and the round, so each occurs once in all tests. */
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream((response, received) => {
    const chat = chatOf(received)
    const round = messagesOf(received).filter(({ role }) => role === 'user').length
    const thought = `Thought ${round} of ${chat}.`
    const text = expectedText(round)
    if (received.json['stream'] !== true)
      return answerWith({ reasoning: thought, text })(response, received)
    const before = chatStream({ reasoning: thought, text: FIRST }).slice(0, -3)
    const behind = chatStream({ reasoning: 'And more.', text: text.slice(FIRST.length) }).slice(1)
    return answerSse([...before, ...behind], 'end', STEP_MS)(response, received)
  })
})
afterAll(() => upstream.close())

function expectedText(round: number): string {
  return `${FIRST}${LAST} (${round})`
}

/** Slow enough for the journal to be written item by item. */
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

/** Returns the rounds whose reasoning was sent with the last request of a chat. */
function reasoningRoundsSent(chat: string): readonly number[] {
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

/** Returns the log lines above the level `info`. */
function warningsOf(gateway: Gateway): readonly string[] {
  return gateway.log
    .filter(({ level }) => level !== 'info')
    .map(({ event }) => event)
    .toSorted()
}

async function notesOfDryRun(
  gateway: Gateway,
  chat: readonly Message[],
): Promise<readonly string[]> {
  const response = await gateway.post('/v1/context/explain', { model: 'm', messages: chat })
  const { notes } = (await response.json()) as { notes: readonly { readonly why: string }[] }
  return notes.map(({ why }) => why)
}

interface FaultCase {
  readonly faultRule: FaultRule
  readonly isRead: boolean
  readonly log: readonly string[]
}

const always =
  (mishap: ReturnType<FaultRule>): FaultRule =>
  () =>
    mishap
const only =
  (mishap: ReturnType<FaultRule>, ...verbs: readonly string[]): FaultRule =>
  (verb) =>
    verbs.includes(verb) ? mishap : 'none'
const WRITES = ['openTurn', 'journalItems', 'closeTurn'] as const

const FAULTS: Readonly<Record<string, FaultCase>> = {
  'never responds': {
    faultRule: always('hangs'),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
  },
  'responds after three seconds': {
    faultRule: always(3_000),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
  },
  fails: {
    faultRule: always('fails'),
    isRead: false,
    log: ['not-recalled', 'turn-not-opened'],
  },
  'fails to read': {
    faultRule: only('fails', 'findTurns'),
    isRead: false,
    log: ['not-recalled'],
  },
  'fails to write': {
    faultRule: only('fails', ...WRITES),
    isRead: true,
    log: ['turn-not-opened'],
  },
  'is full after the turn was opened': {
    faultRule: only('fails', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['items-not-journaled', 'turn-not-closed'],
  },
  'fails to journal items': {
    faultRule: only('fails', 'journalItems'),
    isRead: true,
    log: ['items-not-journaled'],
  },
  'fails to close the turn': {
    faultRule: only('fails', 'closeTurn'),
    isRead: true,
    log: ['turn-not-closed'],
  },
  'hangs when it closes the turn': {
    faultRule: only('hangs', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
  },
  'responds slowly': {
    faultRule: always(100),
    isRead: true,
    log: [],
  },
  'hangs in the middle of the answer': {
    faultRule: only('hangs', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
  },
}

test.concurrent('an answer to a request with `store: true` does not wait forever for the database', async () => {
  const gateway = await start()
  const memory = makeStoreFail(gateway.dependencies)
  memory.faultRule = always('hangs')
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

interface ClientKind {
  readonly isOpenWebUi: boolean
  readonly stream: boolean
}

const CLIENTS: readonly ClientKind[] = [
  { isOpenWebUi: true, stream: true },
  { isOpenWebUi: true, stream: false },
  { isOpenWebUi: false, stream: true },
  { isOpenWebUi: false, stream: false },
]

describe.concurrent.each(Object.entries(FAULTS))('answers while the database %s', (_, luck) => {
  test('a client gets the complete text of an answer while the database fails (C8)', async () => {
    await Promise.all(
      CLIENTS.map((client) =>
        playChat(luck, client).catch((cause: unknown) => {
          throw new Error(`With ${JSON.stringify(client)}: ${String(cause)}`, { cause })
        }),
      ),
    )
  })
})

async function playChat(luck: FaultCase, { isOpenWebUi, stream }: ClientKind): Promise<void> {
  const gateway = await start()
  const memory = makeStoreFail(gateway.dependencies)
  const ask = (chat: readonly Message[]) =>
    askInText({ url: gateway.url, chat, isOpenWebUi, stream })
  const { name, hello } = newChat()
  const first = await ask(hello)
  const second = addRound(hello, first, 'And at noon?')
  memory.faultRule = luck.faultRule

  const result = await ask(second)
  expectComplete(result, 2)
  await expectDurable(result, memory)
  expect(reasoningRoundsSent(name)).toEqual(luck.isRead ? [1] : [])
  const isWarned = !luck.isRead && isOpenWebUi && stream
  expect(result.statusLines).toEqual(isWarned ? [expect.stringContaining(STATUS_LINE)] : [])
  expect(warningsOf(gateway)).toEqual(
    luck.log.filter((event) => stream || event !== 'items-not-journaled'),
  )
  if (!luck.isRead) expect(await notesOfDryRun(gateway, second)).toContain('memory-not-reached')

  memory.faultRule = NO_FAULTS
  const third = addRound(second, result, 'And at night?')
  const again = await ask(third)
  expectComplete(again, 3)
  expect(reasoningRoundsSent(name)).toContain(1)
  expectComplete(await ask(addRound(third, again, 'Thanks.')), 4)
  expect(reasoningRoundsSent(name)).toEqual(expect.arrayContaining([1, 3]))
  await gateway.close()
}

function expectComplete(told: TextAnswer, round: number): void {
  expect(told).toMatchObject({ status: 200, isComplete: true })
  // Open WebUI gets a line break between two messages.
  expect(told.readableText.replace(/\s+/g, ' ')).toBe(expectedText(round).replace(/\s+/g, ' '))
}

/** Checks that the turns of all markers in an answer are stored with their reasoning. */
async function expectDurable({ turnIds }: TextAnswer, memory: FailingStore): Promise<void> {
  for (const turnId of turnIds) {
    const keys = { tenant: 'local', user: null, callIds: [], fingerprints: [] }
    const [turn] = (await memory.findTurns({ ...keys, turnIds: [turnId] })).turns
    expect(turn?.output.map(({ type }) => type)).toContain('reasoning')
  }
}

/** A real database that can be broken and repaired. */
interface BreakableDatabase {
  readonly url: string
  readonly break: () => void | Promise<void>
  readonly mend: () => void | Promise<void>
  readonly close: () => Promise<void>
}

interface RealFault {
  readonly start: () => Promise<BreakableDatabase>
  readonly isRead: boolean
  readonly log: readonly string[]
  /** True if turns written during the outage are stored afterwards. */
  readonly isKept: boolean
}

const REAL_FAULTS: Readonly<Record<string, RealFault>> = {
  'a SQLite file that another process keeps locked': {
    start: () =>
      breakableFile(
        (other) => other.exec('begin immediate'),
        (other) => other.exec('rollback'),
      ),
    isRead: true,
    log: ['turn-late'],
    isKept: true,
  },
  'a full SQLite file': {
    start: () =>
      breakableFile(
        (other) =>
          other.exec(`create trigger no_room before insert on items when new.side = 'out'
            begin select raise(abort, 'database or disk is full'); end`),
        (other) => other.exec('drop trigger no_room'),
      ),
    isRead: true,
    log: ['items-not-journaled', 'turn-not-closed'],
    isKept: false,
  },
  'a Postgres that stops responding': {
    start: () => breakablePostgres((line) => line.stopForwarding()),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
    isKept: true,
  },
  'a Postgres that closes its connections': {
    start: () => breakablePostgres((line) => line.breakConnections()),
    isRead: false,
    log: ['not-recalled', 'turn-not-opened'],
    isKept: false,
  },
}

async function breakableFile(
  broken: (other: DatabaseSync) => void,
  mended: (other: DatabaseSync) => void,
): Promise<BreakableDatabase> {
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

async function breakablePostgres(
  broken: (line: BreakableProxy) => void | Promise<void>,
): Promise<BreakableDatabase> {
  const database = await createDatabase()
  const url = new URL(database.url)
  const line = await startBreakableProxy({ port: Number(url.port) })
  url.port = String(line.port)
  return {
    url: url.href,
    break: () => broken(line),
    mend: line.repair,
    async close() {
      await line.close()
      await database.drop()
    },
  }
}

describe.concurrent.each(Object.entries(REAL_FAULTS))('chats during an outage of %s', (_, luck) => {
  test('a chat continues during a database outage, without recalled items (C8)', async ({
    expect,
  }) => {
    const trouble = await luck.start()
    const gateway = await start(trouble.url)
    const ask = (chat: readonly Message[]) =>
      askInText({ url: gateway.url, chat, isOpenWebUi: true })
    const { name, hello } = newChat()
    const first = await ask(hello)
    expect(first.turnIds).toHaveLength(1)
    const second = addRound(hello, first, 'And at noon?')
    await trouble.break()

    const result = await ask(second)
    expectComplete(result, 2)
    expect(reasoningRoundsSent(name)).toEqual(luck.isRead ? [1] : [])
    const lines = warningsOf(gateway).filter((event) => /recall|turn|items/.test(event))
    expect(lines).toEqual(luck.log)

    await trouble.mend()
    const third = addRound(second, result, 'And at night?')
    const storedItem = luck.isKept ? [1, 2] : [1]
    await expect
      .poll(async () => (expectComplete(await ask(third), 3), reasoningRoundsSent(name)), {
        timeout: 10_000,
      })
      .toEqual(storedItem)
    const again = await ask(third)
    expectComplete(await ask(addRound(third, again, 'Thanks.')), 4)
    expect(reasoningRoundsSent(name)).toEqual([...storedItem, 3])
    await gateway.close()
    await trouble.close()
  })
})
