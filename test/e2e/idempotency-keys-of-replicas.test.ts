/** Requests with an `Idempotency-Key` to two gateways on one Postgres database, one of which may be killed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerWith } from '../support/answer-formats.ts'
import { startChild } from '../support/child-gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let database: TestDatabase
let environment: Readonly<Record<string, string>>
let gateways: readonly Awaited<ReturnType<typeof startGateway>>[]
beforeAll(async () => {
  upstream = await startUpstream()
  database = await createDatabase()
  environment = {
    DATABASE_URL: database.url,
    RUN_LEASE_SECONDS: '1',
    UPSTREAMS: JSON.stringify([{ name: 'c', wire: 'chat', baseUrl: upstream.url }]),
  }
  gateways = await Promise.all([startGateway(environment), startGateway(environment)])
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()))
  await upstream.close()
  await database.drop()
})
beforeEach(() => void upstream.received.splice(0))

const BODIES = {
  '/v1/chat/completions': { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  '/v1/responses': { model: 'm', input: 'x' },
} as const
type Path = keyof typeof BODIES

const KINDS = [
  ['/v1/chat/completions', false],
  ['/v1/chat/completions', true],
  ['/v1/responses', false],
  ['/v1/responses', true],
] as const

let keys = 0
const newKey = () => `key-${++keys}`

async function send(url: string, path: Path, key: string, more = {}) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ ...BODIES[path], ...more }),
  })
  const text = await response.text()
  const frames = text.startsWith('{') ? [] : decodeFrames(text)
  if (frames.length > 0 && path === '/v1/responses') expect(responsesFaults(frames)).toEqual([])
  return { status: response.status, text, id: /(?:resp_|chatcmpl-)[0-9A-Z]{20}/.exec(text)?.[0] }
}

async function isAsked(): Promise<void> {
  for (let tries = 0; tries < 1000 && upstream.received.length === 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  expect(upstream.received).toHaveLength(1)
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 100))

describe.each(KINDS)('a key over two gateways, %s with stream=%s (C155)', (path, stream) => {
  test('a request to the other gateway waits for the answer, and gets it', async () => {
    const [one, two] = gateways.map(({ url }) => url) as [string, string]
    const { promise, resolve: release } = Promise.withResolvers<void>()
    upstream.behave = async (response, received) => {
      await promise
      await answerWith({ text: 'Hello.' })(response, received)
    }
    const key = newKey()
    const first = send(one, path, key, { stream })
    await isAsked()
    const others = [send(two, path, key, { stream }), send(two, path, key, { stream: !stream })]
    await aMoment()
    release()
    const answers = await Promise.all([first, ...others])
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, id: answers[0]?.id })
      expect(answer.text).toContain('lo.')
    }
    expect(upstream.received).toHaveLength(1)
  })
})

test('a request that waited for a rejected one is sent by its own gateway (C155)', async () => {
  const [one, two] = gateways.map(({ url }) => url) as [string, string]
  const { promise, resolve: release } = Promise.withResolvers<void>()
  upstream.behave = async (response, received) => {
    await promise
    const isFirst = received === upstream.received[0]
    const reject = answerJson(429, { error: { message: 'Slow down.' } })
    await (isFirst ? reject : answerWith({ text: 'Hello.' }))(response, received)
  }
  const key = newKey()
  const first = send(one, '/v1/responses', key)
  await isAsked()
  const second = send(two, '/v1/responses', key)
  await aMoment()
  release()
  expect((await first).status).toBe(429)
  expect(await second).toMatchObject({ status: 200 })
  expect(upstream.received).toHaveLength(2)
})

test('an answer that is not stored is not available to the other gateway (C155)', async () => {
  const [one, two] = gateways.map(({ url }) => url) as [string, string]
  upstream.behave = answerWith({ text: 'Hello.' })
  const key = newKey()
  expect(await send(one, '/v1/responses', key, { store: false })).toMatchObject({ status: 200 })
  const other = await send(two, '/v1/responses', key, { store: false })
  expect(other.status).toBe(409)
  expect(other.text).toContain('idempotent_answer_not_available')
  expect(upstream.received).toHaveLength(1)
})

test('a retry after the gateway was killed gets the end of the first request, and nothing is sent (C155)', async () => {
  const url = gateways[0]?.url ?? ''
  const victim = await startChild(environment)
  upstream.behave = (response, { json }) => {
    if (json['stream'] !== true) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] })}\n\n`,
    )
  }
  const requests = [
    ...KINDS.map(([path, stream]) => ({ path, key: newKey(), more: { stream } })),
    { path: '/v1/responses' as const, key: newKey(), more: { background: true } },
    { path: '/v1/responses' as const, key: newKey(), more: { store: false } },
  ]
  const sent = requests.map(({ path, key, more }) =>
    send(victim.url, path, key, more).catch(() => null),
  )
  while (upstream.received.length < requests.length) await aMoment()
  await aMoment()
  // These retries wait for the gateway that is about to be killed.
  const waiting = requests.map(({ path, key, more }) => send(url, path, key, more))
  await victim.kill('SIGKILL')
  await Promise.all(sent)
  const [chat, chatStream, response, responseStream, background, unstored] =
    await Promise.all(waiting)
  expect(chat).toMatchObject({ status: 409 })
  expect(chatStream?.text).toContain('The gateway was stopped')
  expect(response).toMatchObject({ status: 500 })
  expect(response?.text).toContain('send a new key')
  expect(responseStream?.text).toContain('response.failed')
  expect(background?.status).toBe(200)
  expect(unstored).toMatchObject({ status: 409 })
  for (const { path, key, more } of requests) {
    const { text } = await send(url, path, key, more)
    expect(text).toMatch(/send a new key|was stopped|background/)
  }
  const { id = '' } = background ?? {}
  const ended = async () =>
    (await fetch(`${url}/v1/responses/${id}`)).json() as Promise<{ readonly status: string }>
  while (['queued', 'in_progress'].includes((await ended()).status)) await aMoment()
  expect((await ended()).status).toBe('failed')
  expect(upstream.received).toHaveLength(requests.length)
}, 30_000)
