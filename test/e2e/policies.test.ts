/** Context policies that are set for all requests, for a model, for a key, and by a request. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream(answerWith({ text: 'Yes.' }))
  const account = { baseUrl: upstream.url, apiKey: 'sk' }
  gateway = await startGateway({
    BACKSTORY_KEYS: 'ada:key-of-ada,ben:key-of-ben',
    ...upstreams(
      { name: 'c', wire: 'chat', models: ['chat-*'], ...account },
      { name: 'r', wire: 'responses', models: ['responses-*'], ...account },
    ),
    CONTEXT: JSON.stringify({
      window: { turns: 4 },
      models: { '*-small': { window: { turns: 2 } } },
      keys: { ben: { window: { turns: 3 } } },
    }),
  })
})
beforeEach(() => void upstream.received.splice(0))
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const TURNS = 20
const messages = Array.from({ length: 2 * TURNS - 1 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `${at % 2 === 0 ? 'question' : 'answer'} ${Math.floor(at / 2)}`,
}))

async function questionsSent(
  key: string,
  model: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<number> {
  await openaiFor(gateway.url, key).chat.completions.create(
    { model, messages, ...more },
    { headers },
  )
  const [received] = upstream.received.splice(0)
  const list = (received?.json['messages'] ?? received?.json['input']) as { role: string }[]
  expect(received?.text).not.toContain('backstory')
  return list.filter(({ role }) => role === 'user').length
}

test.each([
  ['the setting for all', 'key-of-ada', 'chat-large', {}, {}, 4],
  ['the setting for a model', 'key-of-ada', 'chat-small', {}, {}, 2],
  ['the setting for a key', 'key-of-ben', 'chat-small', {}, {}, 3],
  ['the request field', 'key-of-ben', 'chat-small', { backstory: { window: { turns: 1 } } }, {}, 1],
  [
    'the request field with a policy name',
    'key-of-ben',
    'chat-small',
    { backstory: 'replay' },
    {},
    TURNS,
  ],
  ['the request header', 'key-of-ben', 'chat-small', {}, { 'x-backstory-policy': 'replay' }, TURNS],
  [
    'the request field before the header',
    'key-of-ada',
    'chat-large',
    { backstory: { window: { turns: 1 } } },
    { 'x-backstory-policy': 'replay' },
    1,
  ],
  [
    'the header if the request field has no policy',
    'key-of-ben',
    'chat-small',
    { backstory: { outputs: { keep_turns: 3 } } },
    { 'x-backstory-policy': 'replay' },
    TURNS,
  ],
  [
    'the request field over another wire',
    'key-of-ada',
    'responses-large',
    { backstory: 'replay' },
    {},
    TURNS,
  ],
] as const)(
  'if settings, fields and headers set different context policies, a request gets that of %s (C35)',
  async (_, key, model, more, headers, most) => {
    const sent = await questionsSent(key, model, more, headers)
    if (most === TURNS) expect(sent).toBe(TURNS)
    else {
      expect(sent).toBeLessThanOrEqual(most)
      expect(sent).toBeGreaterThan(0)
    }
  },
)

describe('the request field `backstory`', () => {
  test('the field `backstory` is removed from requests that otherwise pass through unchanged', async () => {
    await questionsSent('key-of-ada', 'chat-large', { backstory: 'replay', seed: 7 })
    const raw = JSON.stringify({
      backstory: 'replay',
      model: 'responses-x',
      input: 'Hi',
      store: false,
    })
    await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-of-ada', 'content-type': 'application/json' },
      body: raw,
    })
    expect(upstream.received[0]?.json).toEqual({ model: 'responses-x', input: 'Hi', store: false })
  })

  test('the field `backstory` is stored with a response, and not returned as part of it', async () => {
    const client = openaiFor(gateway.url, 'key-of-ada')
    const requestFields = { model: 'responses-x', input: 'Hi', backstory: { policy: 'lean' } }
    const first = await client.responses.create(requestFields)
    const read = await client.responses.retrieve(first.id)
    expect(JSON.stringify(read)).not.toContain('backstory')
  })

  test.each([
    [
      '/v1/chat/completions',
      { messages, backstory: { window: { turns: 0 } } },
      'backstory.window.turns',
    ],
    ['/v1/responses', { input: 'Hi', backstory: { policy: 'x' } }, 'backstory.policy'],
    ['/v1/responses', { input: 'Hi', backstory: 'x' }, 'backstory'],
    ['/v1/context/explain', { input: 'Hi', backstory: { media: 1 } }, 'backstory.media'],
  ])('%s rejects an invalid `backstory` value and names its path', async (path, body, param) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer key-of-ada', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'responses-x', ...body }),
    })
    const { error } = (await response.json()) as { error: { param: string } }
    expect([response.status, error.param]).toEqual([400, param])
    expect(upstream.received).toHaveLength(0)
  })

  test('an unknown policy name in the header X-Backstory-Policy is rejected', async () => {
    const response = await gateway.post(
      '/v1/responses',
      { model: 'responses-x', input: 'Hi' },
      { authorization: 'Bearer key-of-ada', 'x-backstory-policy': 'frugal' },
    )
    const { error } = (await response.json()) as { error: { param: string } }
    expect([response.status, error.param]).toEqual([400, 'x-backstory-policy'])
  })
})
