/**
 * The total time of an answer: an upstream that sends a little now and then, without end, is cancelled after
 * REQUEST_TIMEOUT_SECONDS or BACKGROUND_TIMEOUT_SECONDS, and the client gets the one ending of its API.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { HOSTS, type Host } from './hosts.ts'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { connect, create } from '../support/socket-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const TIMED_OUT = 'took longer than the 1 seconds'

/** In a response object, the API knows no code for this failure. */
const FAILED = {
  status: 'failed',
  error: { code: 'server_error', message: expect.stringContaining(TIMED_OUT) as unknown },
}

const CREATED = `event: response.created\ndata: ${JSON.stringify({
  type: 'response.created',
  sequence_number: 0,
  response: {
    id: 'resp_1',
    created_at: 1,
    model: 'passed-on',
    object: 'response',
    status: 'in_progress',
    output: [],
  },
})}\n\n`

const FIRST_CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'

/** The upstream's response objects, which are passed on, have few fields. */
const PASSED_ON = { wholeResponses: false }

interface EndEvent {
  readonly response?: { readonly id: string }
}

describe.concurrent.each(HOSTS)('answers without end on %s', (name, start) => {
  let upstream: Upstream
  let host: Host
  beforeAll(async () => {
    upstream = await startUpstream((response, { path, json }) => {
      if (json['stream'] === false || json['model'] === 'silent') return
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (path.endsWith('/responses')) response.write(CREATED)
      if (path.endsWith('/chat/completions')) response.write(FIRST_CHUNK)
      const timer = setInterval(() => response.write(': wait\n\n'), 50)
      response.once('close', () => clearInterval(timer))
    })
    host = await start({
      REQUEST_TIMEOUT_SECONDS: '1',
      BACKGROUND_TIMEOUT_SECONDS: '1',
      ...upstreams(
        { name: 'r', wire: 'responses', baseUrl: upstream.url, models: ['passed-on'] },
        { name: 'a', wire: 'anthropic', baseUrl: upstream.url, models: ['claude-x'] },
        { name: 'c', wire: 'chat', baseUrl: upstream.url, models: ['*'] },
      ),
    })
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })

  const post = (path: string, body: object, headers = {}) =>
    fetch(`${host.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const stored = (id: string) => openaiFor(host.url).responses.retrieve(id)
  const messages = [{ role: 'user', content: 'Go on.' }]

  test.each(['m', 'claude-x'])('a chat stream of %s ends with an error chunk', async (model) => {
    const text = await (await post('chat/completions', { model, messages, stream: true })).text()
    const errors = decodeFrames(text).filter(({ data }) => data.includes('"error"'))
    expect(errors).toHaveLength(1)
    expect(JSON.parse(errors[0]?.data ?? '')).toMatchObject({ error: { code: 'answer_timeout' } })
    expect(text).toContain(TIMED_OUT)
  })

  test.each(['m', 'passed-on', 'claude-x'])(
    'a Responses stream of %s ends with `response.failed`, and the turn is stored as failed',
    async (model) => {
      const text = await (await post('responses', { model, input: 'Go on.', stream: true })).text()
      const frames = decodeFrames(text)
      expect(responsesFaults(frames, PASSED_ON)).toEqual([])
      const [error, end] = frames.slice(-3, -1).map(({ data }) => JSON.parse(data) as EndEvent)
      expect(error).toMatchObject({ type: 'error', code: 'answer_timeout' })
      expect(end).toMatchObject({ type: 'response.failed', response: FAILED })
      expect(await stored(end?.response?.id ?? '')).toMatchObject(FAILED)
    },
  )

  test.each([
    ['chat/completions', { model: 'silent', messages, user: '1' }],
    ['chat/completions', { model: 'silent', messages, user: '2', stream: true }],
    ['responses', { model: 'silent', input: 'Go on.', user: '3' }],
    ['embeddings', { model: 'silent', input: 'Go on.', user: '4' }],
  ])('a request to %s that has no answer yet gets 504 (%j)', async (path, body) => {
    const response = await post(path, body)
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject({
      error: { type: 'server_error', code: 'answer_timeout' },
    })
    // The test harness of workerd does not abort the upstream request.
    if (name !== 'Node') return
    const sent = upstream.received.find(({ json }) => json['user'] === body.user)
    expect(await sent?.aborted).toBeGreaterThan(0)
  })

  test('a request with an Idempotency-Key that has no answer in time is not sent again (C155)', async () => {
    const body = { model: 'silent', messages, user: 'with a key' }
    const send = () => post('chat/completions', body, { 'idempotency-key': 'a' })
    expect((await send()).status).toBe(504)
    expect((await send()).status).toBe(409)
    expect(upstream.received.filter(({ json }) => json['user'] === body.user)).toHaveLength(1)
  })

  test('an answer on a WebSocket ends with `response.failed`, and the connection stays open', async () => {
    const { ask, socket } = await connect(host.url)
    const { response, faults } = await ask({ ...create('Go on.'), model: 'm' })
    expect(response).toMatchObject(FAILED)
    expect(faults).toEqual([])
    socket.close()
  })

  test.each(['m', 'silent', 'passed-on'])(
    'a background response of %s fails with the code run_timeout',
    async (model) => {
      const { id } = (await (
        await post('responses', { model, input: 'Go on.', background: true })
      ).json()) as { id: string }
      await vi.waitFor(async () => expect(await stored(id)).toMatchObject(FAILED), {
        timeout: 10_000,
        interval: 50,
      })
      const text = await (await fetch(`${host.url}/v1/responses/${id}?stream=true`)).text()
      expect(responsesFaults(decodeFrames(text), PASSED_ON)).toEqual([])
      expect(text).toContain('"code":"run_timeout"')
    },
  )
})

test('with REQUEST_TIMEOUT_SECONDS=off, an answer may take any time', async () => {
  const gateway = await startGateway({
    REQUEST_TIMEOUT_SECONDS: 'off',
    BACKGROUND_TIMEOUT_SECONDS: 'off',
    UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"]}]',
  })
  const { output_text: text } = await gateway.openai.responses.create({
    model: 'demo',
    input: '/say hi',
  })
  expect(text).toBe('hi')
  await gateway.close()
})
