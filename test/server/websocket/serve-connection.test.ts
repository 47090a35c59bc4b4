/** A connection over a simulated socket, so that tests control its clock and its end. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { WebSocketListener } from '../../../src/gateway/client-websocket-interface.ts'
import { trackPendingWork } from '../../../src/server/runtime/pending-work.ts'
import { serveConnection } from '../../../src/server/websocket/serve-connection.ts'
import { findAnswerFaults, splitIntoAnswers, endsAnswer } from '../../support/frames.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { readAnswerFromFrames, create, type Answered } from '../../support/socket-client.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway(
    upstreams({ name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } }),
  )
})
afterAll(() => gateway.close())
afterEach(() => void vi.useRealTimers())

interface TestConnection {
  readonly listener: WebSocketListener
  readonly frames: JsonObject[]
  readonly closes: string[]
  readonly say: (message: JsonObject | string) => void
  readonly ask: (message: JsonObject | string) => Promise<Answered>
  /** Resolves when `count` answers have ended. */
  readonly answers: (count: number) => Promise<void>
}

function openConnection(): TestConnection {
  const frames: JsonObject[] = []
  const closes: string[] = []
  let onFrame = (): void => undefined
  const { dependencies } = gateway
  const listener = serveConnection(
    {
      send(text) {
        frames.push(JSON.parse(text) as JsonObject)
        onFrame()
        return true
      },
      onDrain: () => undefined,
      close: (code, reason) => void closes.push(`${code} ${reason}`),
    },
    {
      caller: { tenant: 'local', user: null },
      ports: dependencies,
      isLocal: () => true,
      ...trackPendingWork(),
    },
  )
  const answers = (count: number): Promise<void> =>
    new Promise((resolve) => {
      onFrame = () => {
        if (frames.filter(endsAnswer).length >= count) resolve()
      }
      onFrame()
    })
  const say = (message: JsonObject | string): void => {
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    listener.onMessage(new TextEncoder().encode(text))
  }
  const ask = async (message: JsonObject | string): Promise<Answered> => {
    const before = frames.filter(endsAnswer).length
    say(message)
    await answers(before + 1)
    return readAnswerFromFrames(splitIntoAnswers(frames)[before] ?? [])
  }
  return { listener, frames, closes, say, ask, answers }
}

test('simultaneous WebSocket requests are answered one after the other', async () => {
  const { say, frames, answers } = openConnection()
  for (const text of ['one', 'two', 'three']) say(create(`/say ${text}`))
  await answers(3)
  const told = splitIntoAnswers(frames)
  expect(told.map((answer) => readAnswerFromFrames(answer).text)).toEqual(['one', 'two', 'three'])
  expect(told.flatMap(findAnswerFaults)).toEqual([])
})

test('an idle WebSocket connection gets an error at its age limit and is closed', () => {
  vi.useFakeTimers()
  const { frames, closes } = openConnection()
  vi.advanceTimersByTime(60 * 60_000 - 1)
  expect(closes).toEqual([])
  vi.advanceTimersByTime(1)
  expect(frames).toMatchObject([
    { type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } },
  ])
  expect(closes).toEqual(['1000 websocket_connection_limit_reached'])
})

test('a gateway that is shutting down finishes the current answer of a WebSocket connection and starts no other', async () => {
  const { listener, say, frames, closes, answers } = openConnection()
  say(create('/say one'))
  say(create('/say two'))
  listener.onShutdown()
  expect(closes).toEqual([])
  await answers(1)
  await vi.waitFor(() => expect(closes).toEqual(['1001 The gateway is shutting down.']))
  expect(splitIntoAnswers(frames).map((answer) => readAnswerFromFrames(answer).text)).toEqual([
    'one',
  ])
})

test('a WebSocket client that disconnects cancels its current answer and its waiting requests', async () => {
  const { listener, say, frames } = openConnection()
  say(create('/say one two three\n/hang'))
  say(create('/say next'))
  await vi.waitFor(() =>
    expect(frames.map((frame) => frame['type'])).toContain('response.content_part.done'),
  )
  listener.onClosed()
  const { length } = frames
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(frames.length).toBe(length)
})

test('a WebSocket client that ignores all errors is disconnected', () => {
  const { say, closes, listener } = openConnection()
  for (let at = 0; at < 300; at += 1) say('x')
  expect(closes).toEqual(['1008 Too many messages.'])
  listener.onClosed()
})

/** Kinds of messages, and whether each gets an answer that can be continued. */
const SCRIPTS = {
  '/say hello': true,
  '/think hm\n/call look {"a":1}': true,
  '/say cut\n/finish length': true,
  '/say half\n/break': false,
  '/error no': false,
  '/status 429 slow down': false,
} as const

interface Message {
  readonly script: keyof typeof SCRIPTS
  readonly store: boolean
  readonly lane: string | null
  readonly generate: boolean
  /** Index of the earlier answer that the message continues. */
  readonly previous: number | null
  readonly junk: string | null
}

const said: fc.Arbitrary<Message> = fc.record({
  script: fc.constantFrom(...(Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[])),
  store: fc.boolean(),
  lane: fc.constantFrom(null, null, 'a', 'b'),
  generate: fc.constantFrom(true, true, true, false),
  previous: fc.option(fc.nat({ max: 5 }), { freq: 3 }),
  junk: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('', '[]', '{"type":"response.steer"}', '\u2028') },
  ),
})

function messageOf(one: Message, previous: string | null): JsonObject | string {
  if (one.junk !== null) return one.junk
  return create(one.script, {
    store: one.store,
    ...(one.generate ? {} : { generate: false }),
    ...(one.lane === null ? {} : { stream_id: one.lane }),
    ...(previous === null ? {} : { previous_response_id: previous }),
  })
}

test('WebSocket messages that are sent at once get one valid answer each, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 8 }), async (list) => {
      const { say, frames, answers, listener } = openConnection()
      for (const one of list) say(messageOf(one, null))
      await answers(list.length)
      listener.onClosed()
      const told = splitIntoAnswers(frames)
      expect(told.flatMap(findAnswerFaults)).toEqual([])
      expect(told).toHaveLength(list.length)
      for (const [at, { lane, junk }] of list.entries()) {
        expect(told[at]?.[0]?.['stream_id'] ?? null).toBe(junk === null ? lane : null)
      }
    }),
    { numRuns: 25 },
  )
})

test('a WebSocket client can continue stored answers and the latest unstored answer of each stream, as a simple model predicts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 2, maxLength: 8 }), async (list) => {
      const { ask, listener } = openConnection()
      const ids: string[] = []
      const stored = new Set<string>()
      const latest = new Map<string, string>()
      for (const one of list) {
        const from = one.previous === null || ids.length === 0 ? null : one.previous % ids.length
        const previous = from === null ? null : (ids[from] ?? null)
        const isThere =
          previous === null || stored.has(previous) || [...latest.values()].includes(previous)
        const answered = await ask(messageOf(one, previous))
        expect(answered.faults).toEqual([])
        if (one.junk !== null) continue
        if (!isThere) expect(answered.refusal).toBe('400 previous_response_not_found')
        const succeeds = isThere && (!one.generate || SCRIPTS[one.script])
        expect(['completed', 'incomplete'].includes(String(answered.response['status']))).toBe(
          succeeds,
        )
        const lane = one.lane ?? ''
        if (!succeeds) {
          for (const [name, id] of latest) if (id === previous) latest.delete(name)
          continue
        }
        ids.push(answered.id)
        if (one.store) {
          stored.add(answered.id)
          latest.delete(lane)
        } else latest.set(lane, answered.id)
      }
      listener.onClosed()
    }),
    { numRuns: 25 },
  )
})
