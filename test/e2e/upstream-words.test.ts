/**
 * An upstream's error message on its way to clients and into the log: it names the upstream, has none of the
 * keys that the upstream was sent, and an upstream that rejects the gateway's key does not look as if the
 * client's key were wrong.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { greetingRequest, PATHS, readClientAnswer } from '../support/read-client-answer.ts'
import { connect } from '../support/socket-client.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../support/upstream.ts'

const KEY = 'sk-operator-0123456789abcdef0123456789abcdef'
const HEADER_KEY = 'second-secret-fedcba9876543210'
const WIRES = ['responses', 'chat', 'anthropic', 'gemini'] as const
const DIALECTS = ['responses', 'chat'] as const
const CLIENT = { authorization: 'Bearer key-of-client-ada' }

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const accounts = WIRES.map((wire) => ({
    name: `our-${wire}`,
    wire,
    baseUrl: upstream.url,
    apiKey: KEY,
    headers: { 'x-proxy-token': `Token ${HEADER_KEY}`, 'x-title': 'conversation' },
    models: [`m-${wire}`],
  }))
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify(accounts),
    BACKSTORY_KEYS: 'ada:key-of-client-ada',
    MODELS: JSON.stringify({ best: ['m-anthropic', 'm-chat'] }),
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => void gateway.log.splice(0))

const WORDS = `Bad conversation with ${KEY} and ${HEADER_KEY} at http://x/?key=AIzaUnknown&alt=sse, or ${KEY.slice(0, 30)}…`
const CLEAN =
  'Bad conversation with [key removed] and [key removed] at http://x/?key=[key removed]&alt=sse, or [key removed]…'

function errorBody(wire: (typeof WIRES)[number], message: string) {
  if (wire === 'gemini') return { error: { code: 400, message, status: 'FAILED_PRECONDITION' } }
  if (wire === 'anthropic') return { type: 'error', error: { type: 'api_error', message } }
  return { error: { message, type: 'server_error', param: null, code: 'odd' } }
}

/** The events of a stream that begins well and ends with an error. */
function failingStream(wire: (typeof WIRES)[number], message: string): readonly string[] {
  const error = errorBody(wire, message)
  const response = {
    id: 'resp_up',
    object: 'response',
    model: 'm',
    status: 'in_progress',
    output: [],
  }
  const events = {
    responses: [
      { type: 'response.created', response, sequence_number: 0 },
      { type: 'error', code: 'odd', message, param: null, error: error.error, sequence_number: 1 },
      {
        type: 'response.failed',
        response: { ...response, status: 'failed', error: { code: 'odd', message } },
        sequence_number: 2,
      },
    ],
    chat: [{ id: 'c', choices: [{ index: 0, delta: { content: 'So ' } }] }, error],
    anthropic: [{ type: 'message_start', message: { id: 'm', model: 'm', content: [] } }, error],
    gemini: [{ candidates: [{ content: { parts: [{ text: 'So ' }] } }] }, error],
  }
  return events[wire].map((event) => {
    const name = 'type' in event ? `event: ${event.type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
}

const ask = (path: string, body: unknown) => gateway.post(path, body, CLIENT)
const listLogTexts = () => JSON.stringify(gateway.log)

describe.each(WIRES)('error messages of an upstream over the wire %s', (wire) => {
  const named = `upstream our-${wire}: ${CLEAN}`

  test.each(DIALECTS)(
    'an error response reaches a client of %s without keys and with the name of the upstream',
    async (dialect) => {
      upstream.behave = answerJson(400, errorBody(wire, WORDS))
      for (const stream of [true, false]) {
        const response = await ask(PATHS[dialect], greetingRequest(dialect, `m-${wire}`, stream))
        expect(response.status).toBe(400)
        const text = await response.text()
        expect(text).toContain(named)
        expect(text).not.toMatch(/sk-operator|second-secret|AIza/)
      }
    },
  )

  test.each(DIALECTS)(
    'an error in a stream reaches a client of %s and the log without keys and with the name of the upstream',
    async (dialect) => {
      for (const store of [true, false]) {
        upstream.behave = answerSse(failingStream(wire, WORDS))
        const request = { ...greetingRequest(dialect, `m-${wire}`, true), store }
        const response = await ask(PATHS[dialect], request)
        const text = await response.clone().text()
        expect((await readClientAnswer(dialect, response)).failure).toContain(named)
        expect(text).not.toMatch(/sk-operator|second-secret|AIza/)
        expect(text).not.toContain(`upstream our-${wire}: upstream`)
        for (const [, message] of text.matchAll(/"message":"(.*?)"/g))
          expect(message).toContain(named)
      }
      expect(listLogTexts()).toContain(named)
      expect(listLogTexts()).not.toMatch(/sk-operator|second-secret|AIza/)
    },
  )

  test.each([401, 403])(
    'an upstream that rejects the key of the gateway with status %i is reported as status 502, which SDKs do not retry',
    async (status) => {
      upstream.behave = answerJson(
        status,
        errorBody(wire, 'Incorrect API key provided: sk-op***def.'),
      )
      const response = await ask('/v1/responses', { model: `m-${wire}`, input: 'Hi' })
      expect(response.status).toBe(502)
      expect(response.headers.get('x-should-retry')).toBe('false')
      const why = `upstream our-${wire}: Incorrect API key provided: sk-op***def. (${status}: the upstream rejects the key or the access of the gateway, not your API key.)`
      expect(await response.json()).toEqual({
        error: { message: why, type: 'server_error', code: 'upstream_access_denied', param: null },
      })
      const request = response.headers.get('x-request-id')
      const fields = { request, upstream: `our-${wire}`, why }
      expect(gateway.log).toEqual([{ level: 'warn', event: 'upstream-failed', fields }])
    },
  )
})

test('a stream whose upstream rejects the key of the gateway says that the key of the client is not the cause', async () => {
  const error = { error: { message: 'No such key.', type: 'authentication_error', code: 401 } }
  for (const [dialect, wire] of [
    ['chat', 'chat'],
    ['responses', 'chat'],
  ] as const) {
    upstream.behave = answerSse([`data: ${JSON.stringify(error)}\n\n`])
    const response = await ask(PATHS[dialect], greetingRequest(dialect, `m-${wire}`, true))
    const text = await response.text()
    expect(text).toContain('upstream our-chat: No such key. (401: the upstream rejects')
    expect(text).toContain('"upstream_access_denied"')
    expect(text).not.toContain('authentication_error')
  }
})

test("an input that a provider's moderation rejects with status 403 stays the client's error", async () => {
  const metadata = { reasons: ['violence'], provider_name: 'OpenAI' }
  upstream.behave = answerJson(403, {
    error: { code: 403, message: 'Your input was flagged.', metadata },
  })
  const response = await ask('/v1/chat/completions', greetingRequest('chat', 'm-chat', false))
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({
    error: { message: 'upstream our-chat: Your input was flagged.', code: 'content_filter' },
  })
})

test('after an upstream that rejects the key of the gateway, the next one gets the request', async () => {
  upstream.behave = (response, received) =>
    (received.path === '/v1/messages'
      ? answerJson(401, errorBody('anthropic', 'invalid x-api-key'))
      : answerJson(200, {
          choices: [{ message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
        }))(response, received)
  const response = await ask('/v1/responses', { model: 'best', input: 'Hi' })
  expect(response.status).toBe(200)
  expect(gateway.log.map(({ event }) => event)).toEqual(['next-upstream'])
})

test('a failed background response that is read later has no keys and names the upstream once', async () => {
  upstream.behave = answerSse(failingStream('responses', WORDS))
  const started = await ask('/v1/responses', {
    model: 'm-responses',
    input: 'Hi',
    background: true,
  })
  const { id } = (await started.json()) as { id: string }
  const read = async (query = '') =>
    (await fetch(`${gateway.url}/v1/responses/${id}${query}`, { headers: CLIENT })).text()
  await expect.poll(() => read()).toContain('"status":"failed"')
  for (const text of [await read(), await read('?stream=true')]) {
    expect(text).toContain(`"upstream our-responses: ${CLEAN}"`)
    expect(text).not.toMatch(/sk-operator|second-secret|AIza/)
  }
})

test('an error over a WebSocket has no keys and names the upstream', async () => {
  upstream.behave = answerSse(failingStream('responses', WORDS))
  const client = await connect(gateway.url, { headers: CLIENT })
  const { frames } = await client.ask({
    type: 'response.create',
    model: 'm-responses',
    input: 'Hi',
  })
  client.socket.close()
  expect(JSON.stringify(frames)).toContain(`upstream our-responses: ${CLEAN}`)
  expect(JSON.stringify(frames)).not.toMatch(/sk-operator|second-secret|AIza/)
})

test('an error on a forwarded path has no keys, names the upstream, and keeps its status and retry headers', async () => {
  upstream.behave = answerJson(429, errorBody('chat', WORDS), { 'retry-after': '7' })
  const response = await ask('/v1/embeddings', { model: 'm-chat', input: 'Hi' })
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  const text = await response.text()
  expect(text).toContain(`upstream our-chat: ${CLEAN}`)
  expect(text).not.toMatch(/sk-operator|second-secret|AIza/)
})

test('a forwarded path whose upstream rejects the key of the gateway is reported as status 502', async () => {
  upstream.behave = answerJson(401, errorBody('chat', 'Nope.'))
  const response = await ask('/v1/embeddings', { model: 'm-chat', input: 'Hi' })
  expect(response.status).toBe(502)
  expect(await response.json()).toMatchObject({ error: { code: 'upstream_access_denied' } })
})

test('a request is not repeated without a parameter because an upstream has the name of this parameter', async () => {
  const other = await startGateway({
    UPSTREAMS: JSON.stringify([
      { name: 'user', wire: 'chat', baseUrl: upstream.url, quirks: { degrade: true } },
    ]),
  })
  upstream.behave = answerJson(400, errorBody('chat', 'No.'))
  upstream.received.splice(0)
  const body = { model: 'm', user: 'ada', messages: [{ role: 'user', content: 'Hi' }] }
  expect((await other.post('/v1/chat/completions', body)).status).toBe(400)
  expect(upstream.received).toHaveLength(1)
  await other.close()
})
