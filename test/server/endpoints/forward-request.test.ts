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
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify([account]),
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
