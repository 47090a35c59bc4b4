import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream(answerJson(200, { data: [] }))
  const account = {
    name: 'a',
    wire: 'chat',
    baseUrl: upstream.url,
    apiKey: 'sk-operator',
    models: ['m'],
  }
  const claude = { ...account, name: 'claude', wire: 'anthropic', models: ['claude-*'] }
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify([account, claude]),
    BACKSTORY_KEYS: 'ada:sk-one,grace:sk-two',
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test.each(['/v1/files', '/v1/organization/costs', '/v1/chat%2fcompletions', '/v1/Responses'])(
  'with two API keys, a request for %s does not reach the upstream',
  async (path) => {
    const before = upstream.received.length
    const headers = { authorization: 'Bearer sk-one' }
    const response = await fetch(gateway.url + path, { headers })
    expect([400, 403, 404]).toContain(response.status)
    expect(await response.json()).toHaveProperty('error.message')
    expect(upstream.received).toHaveLength(before)
  },
)

test("a forwarded request has the operator's key, and not the client's organization and project", async () => {
  const headers = {
    authorization: 'Bearer sk-one',
    'openai-organization': 'org-of-client',
    'openai-project': 'proj-of-client',
  }
  await fetch(`${gateway.url}/v1/embeddings`, { method: 'POST', headers, body: '{"model":"m"}' })
  const received = upstream.received.at(-1)
  expect(received?.headers).toMatchObject({ authorization: 'Bearer sk-operator' })
  expect(received?.headers).not.toHaveProperty('openai-organization')
  expect(received?.headers).not.toHaveProperty('openai-project')
})

test('an unknown path gets status 404 without an API key, too', async () => {
  const response = await fetch(`${gateway.url}/favicon.ico`)
  expect(response.status).toBe(404)
})

test.each([
  [
    '/v1/completions',
    /not offered for the model 'claude-x'.*claude has the wire anthropic.*Use POST \/v1\/chat\/completions or POST \/v1\/responses/,
  ],
  [
    '/v1/embeddings',
    /not offered for the model 'claude-x'.*Name a model of an upstream with the wire chat or responses/,
  ],
  [
    '/v1/messages',
    /POST \/v1\/messages is not an endpoint of this gateway\. Use POST \/v1\/chat\/completions or POST \/v1\/responses/,
  ],
  ['/v1/messages/count_tokens', /is not an endpoint of this gateway/],
])(
  'the error for %s and a model that is served over another API says what to use',
  async (path, message) => {
    const before = upstream.received.length
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-one', 'content-type': 'application/json' },
      body: '{"model":"claude-x"}',
    })
    expect(response.status).toBe(404)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error.message).toMatch(message)
    expect(upstream.received).toHaveLength(before)
  },
)

test('an unknown model gets the error that lists the models', async () => {
  const headers = { authorization: 'Bearer sk-one', 'content-type': 'application/json' }
  const body = '{"model":"nobody"}'
  const response = await fetch(`${gateway.url}/v1/completions`, { method: 'POST', headers, body })
  expect(await response.text()).toMatch(/does not exist.*claude-\*/)
})

test('for the only API key, Anthropic requests are forwarded to an upstream that offers them', async () => {
  const account = { wire: 'chat', baseUrl: upstream.url, apiKey: 'sk-operator' }
  const claude = { ...account, name: 'claude', wire: 'anthropic', models: ['claude-*'] }
  const single = await startGateway({
    UPSTREAMS: JSON.stringify([{ ...account, name: 'a', models: ['m'] }, claude]),
    BACKSTORY_KEYS: 'ada:sk-one',
  })
  const send = (model: string) =>
    single.post('/v1/messages', { model, messages: [] }, { 'x-api-key': 'sk-one' })
  expect((await send('m')).status).toBe(200)
  const received = upstream.received.at(-1)
  expect(received).toMatchObject({
    path: '/v1/messages',
    headers: { authorization: 'Bearer sk-operator' },
  })
  expect(received?.headers).not.toHaveProperty('x-api-key')
  expect(await (await send('claude-x')).text()).toMatch(/Use POST \/v1\/chat\/completions/)
  await single.close()
})

test('a key may be sent as `x-api-key`, which reaches no upstream', async () => {
  for (const path of ['/v1/chat/completions', '/v1/embeddings']) {
    const body = { model: 'm', input: 'Hi', messages: [{ role: 'user', content: 'Hi' }] }
    await gateway.post(path, body, { 'x-api-key': 'sk-two' })
    const received = upstream.received.at(-1)
    expect(received?.path).toBe(path)
    expect(received?.headers).not.toHaveProperty('x-api-key')
    expect(JSON.stringify(received?.headers)).not.toContain('sk-two')
  }
  expect((await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': 'no' } })).status).toBe(
    401,
  )
})

test('a status without a body is forwarded', async () => {
  const { behave } = upstream
  upstream.behave = (response) => void response.writeHead(204).end()
  const headers = { authorization: 'Bearer sk-one' }
  const request = { method: 'POST', headers, body: '{"model":"m"}' }
  const response = await fetch(`${gateway.url}/v1/embeddings`, request)
  upstream.behave = behave
  expect([response.status, await response.text()]).toEqual([204, ''])
})
