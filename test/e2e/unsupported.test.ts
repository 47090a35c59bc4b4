/**
 * Parameters and items that an upstream does not support: by default the gateway drops them with a note; the
 * setting `UNSUPPORTED` or a header rejects the request instead.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream(answerWith({ text: 'Yes.' }))
  const account = { baseUrl: upstream.url, apiKey: 'sk' }
  gateway = await startGateway({
    ...upstreams(
      { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
      { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
    ),
    MODELS: JSON.stringify({ either: ['responses-model', 'chat-model'] }),
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const messages = [{ role: 'user', content: 'Hi' }]
const REJECT = { 'x-backstory-unsupported': 'reject' }

async function postStrictly(path: string, body: object, headers: object = REJECT) {
  const before = upstream.received.length
  const response = await gateway.post(path, body, headers)
  const json = (await response.json()) as { readonly error?: Record<string, unknown> }
  return { status: response.status, error: json.error, sent: upstream.received.length - before }
}

describe('requests that are rejected with the header X-Backstory-Unsupported: reject', () => {
  const image = { type: 'input_image', file_id: 'file_1' }
  test.each([
    ['a field', 'chat/completions', 'responses-model', { messages, seed: 1 }, 'seed'],
    [
      'a tool',
      'responses',
      'chat-model',
      { input: 'Hi', tools: [{ type: 'x_search' }] },
      'tools[0]',
    ],
    [
      'an item',
      'responses',
      'chat-model',
      {
        input: [
          { role: 'user', content: 'See' },
          { role: 'user', content: [image] },
        ],
      },
      'input[1]',
    ],
    [
      'a field that the upstream names differently',
      'responses',
      'chat-model',
      { input: 'Hi', reasoning: { summary: 'auto' } },
      'reasoning.summary',
    ],
  ])(
    'a request with %s is rejected before anything is sent if the upstream has no equivalent',
    async (_, path, model, body, param) => {
      const { status, error, sent } = await postStrictly(`/v1/${path}`, { model, ...body })
      expect({ status, sent }).toEqual({ status: 400, sent: 0 })
      expect(error).toMatchObject({
        type: 'invalid_request_error',
        code: 'unsupported_parameter',
        param,
        message: expect.stringContaining(`Unsupported parameter: '${param}'. `) as string,
      })
      expect(await postStrictly(`/v1/${path}`, { model, ...body }, {})).toMatchObject({
        status: 200,
        sent: 1,
      })
    },
  )

  test('an upstream without support for a parameter is skipped if another one has it', async () => {
    const body = { model: 'either', messages, seed: 1 }
    expect(await postStrictly('/v1/chat/completions', body)).toMatchObject({ status: 200, sent: 1 })
    expect(upstream.received.at(-1)?.path).toBe('/v1/chat/completions')
    expect(await postStrictly('/v1/chat/completions', body, {})).toMatchObject({ status: 200 })
    expect(upstream.received.at(-1)?.path).toBe('/v1/responses')
  })
})

test.each([
  ['parameters with another name in the upstream API', { messages, stop: ['a'], max_tokens: 1 }],
  [
    'parameters with their default values',
    { messages, n: 1, presence_penalty: 0, logprobs: false },
  ],
  [
    'encrypted reasoning items of another wire',
    {
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: 'Hm.',
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }],
        },
        ...messages,
      ],
    },
  ],
])('%s are accepted even if unsupported parameters are rejected', async (_, body) => {
  const { status } = await postStrictly('/v1/chat/completions', {
    model: 'responses-model',
    ...body,
  })
  expect(status).toBe(200)
})

test('unsupported items are accepted if they come from the stored history', async () => {
  const first = await gateway.openai.responses.create({
    model: 'chat-model',
    input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f', detail: 'auto' }] }],
  })
  const body = { model: 'chat-model', input: 'And?', previous_response_id: first.id }
  expect(await postStrictly('/v1/responses', body)).toMatchObject({ status: 200, sent: 1 })
})

test('explain never rejects an unsupported parameter, and shows the reason', async () => {
  const response = await gateway.post(
    '/v1/context/explain',
    { model: 'responses-model', messages, seed: 1, tools: [{ type: 'x_search', x_search: {} }] },
    REJECT,
  )
  expect(await response.json()).toMatchObject({
    notes: [
      {
        did: 'dropped',
        field: 'tools[0]',
        why: 'tool-without-word',
        detail: 'A tool was left out, because this API has no tools of its type (x_search).',
      },
      { did: 'dropped', field: 'seed', why: 'parameter-without-word' },
    ],
  })
})

test('the index in a note refers to the complete list of items, even after an earlier item was dropped', async () => {
  const response = await gateway.post('/v1/context/explain', {
    model: 'chat-model',
    input: [
      { type: 'function_call_output', call_id: 'lost', output: 'nobody asked' },
      { role: 'user', content: [{ type: 'input_image', file_id: 'f' }] },
    ],
  })
  expect(await response.json()).toMatchObject({
    notes: [
      { at: 0, by: 'prune-orphans' },
      { at: 1, why: 'image-without-url' },
    ],
  })
})

test('an unknown value of the header X-Backstory-Unsupported is rejected', async () => {
  const headers = { 'x-backstory-unsupported': 'maybe' }
  const { status, error } = await postStrictly(
    '/v1/chat/completions',
    { model: 'chat-model', messages },
    headers,
  )
  expect(status).toBe(400)
  expect(error).toMatchObject({ code: 'invalid_value', param: null })
})

test('the setting UNSUPPORTED applies to all requests, and the header overrides it', async () => {
  const strict = await startGateway({
    ...upstreams({ name: 'r', wire: 'responses', baseUrl: upstream.url, apiKey: 'k' }),
    UNSUPPORTED: 'reject',
  })
  const body = { model: 'm', messages, seed: 1 }
  const refused = await strict.post('/v1/chat/completions', body)
  expect(refused.status).toBe(400)
  const noted = await strict.post('/v1/chat/completions', body, {
    'x-backstory-unsupported': 'note',
  })
  expect(noted.status).toBe(200)
  await strict.close()
})
