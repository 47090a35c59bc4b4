/**
 * A memory that fails costs memory and nothing else: the answer comes, whole and without a long wait;
 * what was not kept is not promised; it is told once; and a memory that is back is used at once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failingMemory, WELL, type FailingMemory, type Mood } from '../support/failing-memory.ts'
import { frailLine, type FrailLine } from '../support/frail-line.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { askInText, goneOn, type Message, type Told } from '../support/text-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { speak } from '../support/wires.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

/** A second for what the machine does beside. */
const READ_MS = 1_500
const END_MS = 1_000
const SLACK_MS = 1_000

const UNREACHED = 'The memory could not be reached'
const HELLO: readonly Message[] = [{ role: 'user', content: 'What is a lighthouse for?' }]
const WORDS = 'It warns ships.\n\nAnd it guides them home.'

let upstream: Upstream
let asked = 0
beforeAll(async () => {
  upstream = await startUpstream((response, received) => {
    asked += 1
    const said = { reasoning: `Thought ${asked}.`, text: `${WORDS} (${asked})` }
    return speak(said)(response, received)
  })
})
afterAll(() => upstream.close())

function start(databaseUrl = 'sqlite::memory:'): Promise<Gateway> {
  return startGateway({
    DATABASE_URL: databaseUrl,
    DRAIN_SECONDS: '1',
    ...upstreams(
      { name: 'c', wire: 'chat', models: ['m'], baseUrl: upstream.url },
      { name: 'r', wire: 'responses', models: ['r'], baseUrl: upstream.url },
    ),
  })
}

/** What the upstream was given back of what it had thought. */
function thoughtsSent(): readonly string[] {
  return upstream.received.at(-1)?.text.match(/Thought \d+\./g) ?? []
}

function thoughtsUpTo(last: number, from = 1): readonly string[] {
  return Array.from({ length: last - from + 1 }, (_, at) => `Thought ${from + at}.`)
}

beforeEach(() => {
  asked = 0
  upstream.received.splice(0)
})

/** Of one request. */
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
  readonly atMostMs: number
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
    atMostMs: READ_MS + END_MS,
  },
  'takes three seconds': {
    mood: always(3_000),
    isRead: false,
    log: ['not-recalled', 'turn-late'],
    atMostMs: READ_MS + END_MS,
  },
  'fails': {
    mood: always('fails'),
    isRead: false,
    log: ['not-recalled', 'turn-not-opened'],
    atMostMs: 0,
  },
  'cannot be read': {
    mood: only('fails', 'findTurns'),
    isRead: false,
    log: ['not-recalled'],
    atMostMs: 0,
  },
  'can only be read': {
    mood: only('fails', ...WRITES),
    isRead: true,
    log: ['turn-not-opened'],
    atMostMs: 0,
  },
  'is full once the turn is open': {
    mood: only('fails', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['items-not-journaled', 'turn-not-closed'],
    atMostMs: 0,
  },
  'loses what is written on the way': {
    mood: only('fails', 'journalItems'),
    isRead: true,
    log: ['items-not-journaled'],
    atMostMs: 0,
  },
  'fails at the very end': {
    mood: only('fails', 'closeTurn'),
    isRead: true,
    log: ['turn-not-closed'],
    atMostMs: 0,
  },
  'falls silent at the very end': {
    mood: only('hangs', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
    atMostMs: END_MS,
  },
  'falls silent in the middle': {
    mood: only('hangs', 'journalItems', 'closeTurn'),
    isRead: true,
    log: ['turn-late'],
    atMostMs: END_MS,
  },
}

describe.each(Object.entries(CASES))('a memory that %s', (_, luck) => {
  let gateway: Gateway
  let memory: FailingMemory
  beforeAll(async () => {
    gateway = await start()
    memory = failingMemory(gateway.world)
  })
  afterEach(() => void (memory.mood = WELL))
  afterAll(() => gateway.close())

  describe.each([
    ['an Open WebUI', true],
    ['any other client', false],
  ] as const)('costs %s', (_, isOpenWebUi) => {
    test.each([
      ['a stream', true],
      ['an answer at once', false],
    ] as const)('no word of %s', async (_, stream) => {
      const ask = (chat: readonly Message[]) =>
        askInText({ url: gateway.url, chat, isOpenWebUi, stream })
      const first = await ask(HELLO)
      const second = goneOn(HELLO, first, 'And at noon?')
      gateway.log.splice(0)
      memory.mood = luck.mood

      const told = await ask(second)
      expectWhole(told, 2, luck.atMostMs)
      await expectDurable(told, memory)
      expect(thoughtsSent()).toEqual(luck.isRead ? ['Thought 1.'] : [])
      expect(told.statusLines).toEqual(
        luck.isRead || !isOpenWebUi || !stream ? [] : [expect.stringContaining(UNREACHED)],
      )
      expect(linesOf(gateway)).toEqual(
        luck.log.filter((event) => stream || event !== 'items-not-journaled'),
      )
      if (!luck.isRead) expect(await explained(gateway, second)).toContain('memory-not-reached')

      memory.mood = WELL
      const third = goneOn(second, told, 'And at night?')
      expectWhole(await ask(third), 3, 0)
      expect(thoughtsSent()).toContain('Thought 1.')
      const fourth = goneOn(third, { text: `${WORDS} (3)` }, 'Thanks.')
      expectWhole(await ask(fourth), 4, 0)
      expect(thoughtsSent()).toEqual(expect.arrayContaining(['Thought 1.', 'Thought 3.']))
    })
  })
})

function expectWhole(told: Told, number: number, atMostMs: number): void {
  expect(told).toMatchObject({ status: 200, isWhole: true, words: `${WORDS} (${number})` })
  expect(told.tookMs).toBeLessThan(atMostMs + SLACK_MS)
}

/** Whatever an answer names must be there, with what was thought. */
async function expectDurable({ turnIds }: Told, memory: FailingMemory): Promise<void> {
  for (const turnId of turnIds) {
    const keys = { tenant: 'local', user: null, callIds: [], fingerprints: [] }
    const [turn] = await memory.findTurns({ ...keys, turnIds: [turnId] })
    expect(turn?.output.map(({ type }) => type)).toContain('reasoning')
  }
}
