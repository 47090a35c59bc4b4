/**
 * Every answer has an id of its own in the header `x-request-id`, and the log lines that its request causes have
 * the same id in the field `request`.
 */
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { answerWith } from '../support/answer-formats.ts'
import { startGateway } from '../support/gateway.ts'
import { connect, create } from '../support/socket-client.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify([
      { name: 'c', wire: 'chat', models: ['m'], ...account },
      { name: 'r', wire: 'responses', models: ['r'], ...account },
      { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
    ]),
    BACKSTORY_KEYS: 'ada:sk-one',
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.behave = answerWith({ reasoning: 'Hm.', text: 'A cat.' })
})

const AUTHORIZATION = { authorization: 'Bearer sk-one' }
const REQUEST_ID = /^req_[0-9A-HJKMNP-TV-Z]{20}$/
const seen = new Set<string>()

function expectNewId(id: string | null | undefined): string {
  expect(id).toMatch(REQUEST_ID)
  expect(seen).not.toContain(id)
  seen.add(id ?? '')
  return id ?? ''
}

async function call(method: string, path: string, body?: unknown, headers: object = {}) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...AUTHORIZATION, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { response, text: await response.text() }
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

test.each<[string, string, string, unknown?, object?]>([
  ['a health check', 'GET', '/healthz'],
  ['the list of models', 'GET', '/v1/models'],
  ['a complete chat completion', 'POST', '/v1/chat/completions', chat],
  ['a streamed chat completion', 'POST', '/v1/chat/completions', { ...chat, stream: true }],
  ['a response that passes through', 'POST', '/v1/responses', { model: 'r', input: 'Hi' }],
  [
    'a stream that passes through',
    'POST',
    '/v1/responses',
    { model: 'r', input: 'Hi', stream: true },
  ],
  [
    'a background response',
    'POST',
    '/v1/responses',
    { model: 'demo', input: 'Hi', background: true },
  ],
  ['a forwarded request', 'POST', '/v1/embeddings', { model: 'm', input: 'Hi' }],
  [
    'a preflight',
    'OPTIONS',
    '/v1/models',
    undefined,
    { origin: 'http://a.example', 'access-control-request-method': 'GET' },
  ],
  ['an answer without a body', 'HEAD', '/v1/models'],
  ['a wrong key', 'GET', '/v1/models', undefined, { authorization: 'Bearer sk-two' }],
  ['a body that is no JSON', 'POST', '/v1/responses', '{'],
  ['an invalid field', 'POST', '/v1/responses', { model: 'm', input: 'Hi', temperature: 'hot' }],
  ['an unknown model', 'POST', '/v1/responses', { model: 'nobody', input: 'Hi' }],
  ['an unknown response', 'GET', '/v1/responses/resp_nope'],
  [
    'an unknown previous response',
    'POST',
    '/v1/responses',
    { model: 'm', input: 'Hi', previous_response_id: 'resp_nope' },
  ],
  ['an unknown path', 'GET', '/favicon.ico'],
  ['a path that is not forwarded', 'DELETE', '/v1/embeddings'],
])('the answer to a request has an id: %s', async (_, method, path, body, headers = {}) => {
  const { response } = await call(method, path, body, headers)
  expectNewId(response.headers.get('x-request-id'))
})

test('an answer of a model and its request have the same id, and a later request for it has another', async () => {
  const { response, text } = await call('POST', '/v1/responses', { model: 'r', input: 'Hi' })
  const { id } = JSON.parse(text) as { id: string }
  expect(expectNewId(response.headers.get('x-request-id')).slice(4)).toBe(id.slice(5))
  const body = { model: 'demo', input: 'Hi', background: true, stream: true }
  const started = await call('POST', '/v1/responses', body)
  const startedId = expectNewId(started.response.headers.get('x-request-id'))
  expect(started.text).toContain(`"resp_${startedId.slice(4)}"`)
  const followed = await call('GET', `/v1/responses/resp_${startedId.slice(4)}?stream=true`)
  expect(followed.text).toContain('response.completed')
  expectNewId(followed.response.headers.get('x-request-id'))
})

test('requests with the same Idempotency-Key get one answer and ids of their own', async () => {
  const body = { model: 'r', input: 'Hi' }
  const headers = { 'idempotency-key': 'once' }
  const [first, second] = [
    await call('POST', '/v1/responses', body, headers),
    await call('POST', '/v1/responses', body, headers),
  ]
  const { id } = JSON.parse(first.text) as { id: string }
  expect(JSON.parse(second.text)).toMatchObject({ id })
  expect(expectNewId(first.response.headers.get('x-request-id')).slice(4)).toBe(id.slice(5))
  expectNewId(second.response.headers.get('x-request-id'))
})

test.each([
  ['/v1/chat/completions', chat],
  ['/v1/chat/completions', { ...chat, stream: true }],
  ['/v1/embeddings', { model: 'm', input: 'Hi' }],
])(
  "an upstream's error for %s has the gateway's id, and the upstream's in a header of its own",
  async (path, body) => {
    upstream.behave = answerJson(
      429,
      { error: { message: 'Slow down.' } },
      { 'x-request-id': 'up-1' },
    )
    const { response } = await call('POST', path, body)
    expect(response.status).toBe(429)
    expectNewId(response.headers.get('x-request-id'))
    expect(response.headers.get('x-backstory-upstream-request')).toBe('up-1')
  },
)

test('a forwarded answer has the id of the gateway, and that of the upstream in a header of its own', async () => {
  upstream.behave = answerJson(200, { data: [] }, { 'x-request-id': 'up-2' })
  const { response } = await call('POST', '/v1/embeddings', { model: 'm', input: 'Hi' })
  expectNewId(response.headers.get('x-request-id'))
  expect(response.headers.get('x-backstory-upstream-request')).toBe('up-2')
})

test('the SDK shows the id of an error', async () => {
  const error: unknown = await gateway.openai
    .withOptions({ apiKey: 'sk-one' })
    .responses.retrieve('resp_nope')
    .catch((thrown: unknown) => thrown)
  expectNewId((error as { requestID?: string }).requestID)
})

test('requests that do not reach the app are answered with an id', async () => {
  const send = async (bytes: string): Promise<string> => {
    const socket = connectSocket(Number(new URL(gateway.url).port), '127.0.0.1')
    socket.end(bytes)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }
  const upgrade = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
  for (const bytes of [
    'nonsense\r\n\r\n',
    'GET /v1\\models HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    `GET /v1/responses HTTP/1.1\r\nhost: a\r\n${upgrade}authorization: Bearer no\r\n\r\n`,
    `GET /v1/responses HTTP/1.1\r\nhost: a\r\n${upgrade}authorization: Bearer sk-one\r\n\r\n`,
  ]) {
    const answer = await send(bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d/)
    expectNewId(/^x-request-id: (\S+)$/im.exec(answer)?.[1])
  }
})

test('the answer to an upgrade has an id, and so has each message over the WebSocket', async () => {
  const url = `${gateway.url.replace(/^http/, 'ws')}/v1/responses`
  const socket = new WebSocket(url, { headers: AUTHORIZATION })
  const [upgraded] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }]
  expectNewId(upgraded.headers['x-request-id'])
  socket.close()
  const client = await connect(gateway.url, { headers: AUTHORIZATION })
  const refused = await client.ask('not JSON')
  const error = refused.frames[0]?.['error'] as { headers: Record<string, string> }
  expectNewId(error.headers['x-request-id'])
  expect((await client.ask({ ...create('Hi'), model: 'demo' })).refusal).toBeNull()
  client.socket.close()
})

test('the log lines that a request causes have its id', async () => {
  gateway.log.splice(0)
  upstream.behave = answerJson(500, { error: { message: 'Oh.' } })
  const refused = await call('POST', '/v1/chat/completions', chat)
  upstream.behave = answerSse(['data: {"choices":[{"delta":{"content":"A"}}]}\n\n'], 'reset')
  const broken = await call('POST', '/v1/chat/completions', { ...chat, stream: true })
  const ids = [refused, broken].map(({ response }) => response.headers.get('x-request-id'))
  expect(gateway.log.map(({ event, fields }) => [event, fields?.['request']])).toEqual([
    ['upstream-failed', ids[0]],
    ['answer-failed', ids[1]],
  ])
})
