/** A gateway that stops: open answers end with a message, and after-answer work is completed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { turnIdOfResponse } from '../../src/core/turn-derived-ids.ts'
import type { TurnEnding } from '../../src/store/turns/turn-store-interface.ts'
import { startChild } from '../support/child-gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { answerSse, startUpstream, type Behaviour, type Upstream } from '../support/upstream.ts'
import { chatStream } from '../support/answer-formats.ts'

let upstream: Upstream
beforeEach(async () => void (upstream = await startUpstream()))
afterEach(() => upstream.close())

const START = chatStream({ text: 'Hello' }).slice(0, 3)
const nothing: Behaviour = () => undefined
const beginning = answerSse(START, 'hang')

function start(environment: Readonly<Record<string, string>> = {}) {
  return startGateway(
    {
      UPSTREAMS: JSON.stringify([{ name: 'c', wire: 'chat', baseUrl: upstream.url }]),
      DRAIN_SECONDS: '0',
      ...environment,
    },
    { unexplained: 'Its answers end when it closes.' },
  )
}

/** Stops the gateway in the middle of an answer, and returns what the client received. */
async function stopDuringAnswer(path: string, body: object) {
  const gateway = await start()
  const request = gateway.post(path, body)
  await vi.waitUntil(() => upstream.received.length > 0)
  // By then, the first text is on its way to the client.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const closed = gateway.close()
  const answer = await request
  const result = { status: answer.status, text: await answer.text() }
  await closed
  return result
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const response = { model: 'm', input: 'x' }

describe.each([true, false])('open answers when the gateway stops, with `store: %s`', (store) => {
  test('a chat stream ends with an error and [DONE] after its text when the gateway stops', async () => {
    upstream.behave = beginning
    const { text } = await stopDuringAnswer('/v1/chat/completions', {
      ...chat,
      store,
      stream: true,
    })
    expect(text).toMatch(/"content":"Hel/)
    expect(text).toMatch(/"code":"gateway_stopped".*\n\ndata: \[DONE\]\n\n$/)
    expect(text.match(/gateway_stopped/g)).toHaveLength(1)
  })

  test('a Responses stream ends as failed when the gateway stops', async () => {
    upstream.behave = beginning
    const { text } = await stopDuringAnswer('/v1/responses', { ...response, store, stream: true })
    expect(text).toMatch(/event: response.failed\ndata: .*Ask again\..*\n\ndata: \[DONE\]\n\n$/)
    expect(text.match(/event: response.failed/g)).toHaveLength(1)
  })

  test.each([
    ['before its first byte', nothing],
    ['in the middle of the answer', beginning],
  ])('a non-streamed answer fails with 503 when the gateway stops %s', async (_, behave) => {
    upstream.behave = behave
    const { status, text } = await stopDuringAnswer('/v1/chat/completions', { ...chat, store })
    expect(status).toBe(503)
    expect(JSON.parse(text)).toMatchObject({
      error: { type: 'server_error', code: 'gateway_stopped' },
    })
  })
})

test('the gateway waits for after-answer work before it stops, also if the client has left', async () => {
  upstream.behave = beginning
  const gateway = await start({ DRAIN_SECONDS: '5', EXPLAIN_KEEP: 'off' })
  const { store } = gateway.dependencies
  const { closeTurn, close } = store
  const done: string[] = []
  Object.assign(store, {
    async closeTurn(ending: TurnEnding) {
      await new Promise((resolve) => setTimeout(resolve, 400))
      const isClosed = await closeTurn(ending)
      done.push(ending.state)
      return isClosed
    },
    async close() {
      done.push('closed')
      await close()
    },
  })
  const client = new AbortController()
  const body = JSON.stringify({ ...response, stream: true })
  const headers = { 'content-type': 'application/json' }
  const request = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers,
    body,
    signal: client.signal,
  })
  await request.body?.getReader().read()
  client.abort()
  await vi.waitUntil(() => upstream.received.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await gateway.close()
  expect(done).toEqual(['cancelled', 'closed'])
})

test('a failing database does not prevent the process from ending', async () => {
  const gateway = await start()
  const gone = async () => Promise.reject(new Error('It is gone.'))
  Object.assign(gateway.dependencies.runs, { retireReplica: gone })
  await gateway.close()
  const fields = { why: 'It is gone.' }
  expect(gateway.log).toContainEqual({ level: 'warn', event: 'lease-not-given-back', fields })
})

test('a stopping gateway releases queued background runs at once, while open answers finish', async () => {
  upstream.behave = nothing
  const gateway = await start({ DRAIN_SECONDS: '1' })
  const ids: string[] = []
  for (let at = 0; at < 30; at += 1) {
    const request = await gateway.post('/v1/responses', { ...response, background: true })
    ids.push(((await request.json()) as { id: string }).id)
  }
  // The gateway drains only while an answer is open.
  const open = gateway.post('/v1/responses', { ...response, stream: true })
  await vi.waitUntil(() => upstream.received.length > ids.length, 10_000)
  const states: (string | undefined)[] = []
  const { runs, archive, store } = gateway.dependencies
  const { readLog } = runs
  const slowly: typeof readLog = async (...asked) => {
    await new Promise((resolve) => setTimeout(resolve, 10))
    return readLog(...asked)
  }
  const { close } = store
  const looked = async () => {
    for (const id of ids) {
      const turnId = turnIdOfResponse(id) ?? ''
      const turn = await archive.loadTurn({ tenant: 'local', user: null }, turnId)
      states.push(turn?.state)
    }
    await close()
  }
  Object.assign(runs, { readLog: slowly })
  Object.assign(store, { close: looked })
  await gateway.close()
  await (await open).text()
  expect(new Set(states)).toEqual(new Set(['open']))
})

test('other replicas do not end a background run that a stopping gateway still finishes', async () => {
  const pieces = chatStream({ text: 'Hello' })
  upstream.behave = answerSse(pieces, 'end', 600)
  const folder = mkdtempSync(join(tmpdir(), 'backstory-stopping-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const DATABASE_URL = `sqlite:${join(folder, 'memory.db')}`
  const shared = { DATABASE_URL, DRAIN_SECONDS: '10', RUN_LEASE_SECONDS: '5' }
  const [one, other] = [await start(shared), await start(shared)]
  const request = await one.post('/v1/chat/completions', { ...chat, store: true, stream: true })
  await one.close()
  const text = await request.text()
  expect(text).not.toContain('"error"')
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  await other.close()
}, 20_000)

test.each(['SIGHUP', 'SIGUSR2', 'SIGALRM'] as const)(
  'the signal %s does not end the process, and SIGTERM still stops it',
  async (signal) => {
    const child = await startChild({ DATABASE_URL: 'sqlite::memory:' })
    child.signal(signal)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await fetch(`${child.url}/healthz`)).status).toBe(200)
    await child.kill('SIGTERM')
  },
)
