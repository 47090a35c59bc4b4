/** The complete gateway with the official SDK as its client, on Node and inside workerd. */
import type OpenAI from 'openai'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import type { FunctionTool } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openaiFor } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'
import { HOSTS, type Host } from './hosts.ts'

const SAID = {
  reasoning: 'Let me look.',
  text: 'I look it up.',
  calls: [
    { id: 'call_a', name: 'weather', arguments: '{"city":"Graz"}' },
    { id: 'call_b', name: 'weather', arguments: '{"city":"Wien"}' },
  ],
}
const WEATHER = {
  name: 'weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const chatTools: ChatCompletionTool[] = [{ type: 'function', function: WEATHER }]
const responsesTools: FunctionTool[] = [{ type: 'function', strict: false, ...WEATHER }]
const image = 'data:image/png;base64,iVBORw0KGgo='

describe.each(HOSTS)("the gateway's endpoints on %s", (_, start) => {
  let upstream: Upstream
  let host: Host
  let openai: OpenAI
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
    host = await start({
      UPSTREAMS: JSON.stringify([
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
        { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
      ]),
    })
    openai = openaiFor(host.url)
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })
  const sent = () => upstream.received.at(-1)?.json ?? {}

  describe.each(['chat-model', 'responses-model'])('chats and responses over %s', (model) => {
    test('a non-streamed chat is answered', async () => {
      upstream.behave = answerWith(SAID)
      const { choices, usage } = await openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: chatTools,
      })
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'I look it up.',
          reasoning_content: 'Let me look.',
          tool_calls: [
            { id: 'call_a', function: { name: 'weather', arguments: '{"city":"Graz"}' } },
            { id: 'call_b', function: { name: 'weather', arguments: '{"city":"Wien"}' } },
          ],
        },
      })
      expect(usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
      expect(upstream.received.at(-1)?.headers.authorization).toBe('Bearer sk-upstream')
    })

    test('a streamed chat is answered', async () => {
      upstream.behave = answerWith(SAID)
      const stream = openai.chat.completions.stream({
        model,
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: chatTools,
        stream_options: { include_usage: true },
      })
      const { choices, usage } = await stream.finalChatCompletion()
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: 'I look it up.', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
      })
      expect(usage).toMatchObject({
        prompt_tokens: 20,
        completion_tokens_details: { reasoning_tokens: 3 },
      })
    })

    test('a non-streamed response is answered', async () => {
      upstream.behave = answerWith(SAID)
      const response = await openai.responses.create({
        model,
        input: 'Weather?',
        tools: responsesTools,
      })
      expect(response).toMatchObject({ status: 'completed', store: true, output_text: SAID.text })
      expect(response.output.map(({ type }) => type)).toEqual([
        'reasoning',
        'message',
        'function_call',
        'function_call',
      ])
      expect(response.usage).toMatchObject({
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4 },
      })
      expect(response.id).toMatch(/^resp_[0-9A-Z]{20}$/)
    })

    test('a streamed response is answered', async () => {
      upstream.behave = answerWith(SAID)
      const stream = openai.responses.stream({ model, input: 'Weather?', tools: responsesTools })
      const response = await stream.finalResponse()
      expect(response).toMatchObject({ status: 'completed', output_text: SAID.text })
      expect(response.output.filter(({ type }) => type === 'function_call')).toMatchObject([
        { call_id: 'call_a', arguments: '{"city":"Graz"}' },
        { call_id: 'call_b', arguments: '{"city":"Wien"}' },
      ])
      expect(response.id).toMatch(/^resp_[0-9A-Z]{20}$/)
    })

    test('an image is passed on to the model', async () => {
      upstream.behave = answerWith({ text: 'A cat.' })
      await openai.responses.create({
        model,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What is it?' },
              { type: 'input_image', image_url: image, detail: 'auto' },
            ],
          },
        ],
      })
      expect(JSON.stringify(sent())).toContain(image)
      await openai.chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: image } },
            ],
          },
        ],
      })
      expect(JSON.stringify(sent())).toContain(image)
    })

    test('an answer that the upstream cut off is reported as incomplete', async () => {
      upstream.behave = answerWith({ text: 'It is', finish: 'length' })
      const response = await openai.responses.create({ model, input: 'Go on', stream: false })
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      })
      const chat = await openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Go on' }],
      })
      expect(chat.choices[0]?.finish_reason).toBe('length')
    })

    test('a response with a previous_response_id sends all items of the previous response', async () => {
      upstream.behave = answerWith(SAID)
      const first = await openai.responses.create({
        model,
        input: 'Weather?',
        tools: responsesTools,
        instructions: 'Be brief.',
      })
      upstream.behave = answerWith({ text: 'Sunny.' })
      const second = await openai.responses
        .stream({
          model,
          previous_response_id: first.id,
          tools: responsesTools,
          input: [
            { type: 'function_call_output', call_id: 'call_a', output: '20 degrees' },
            { type: 'function_call_output', call_id: 'call_b', output: '25 degrees' },
          ],
        })
        .finalResponse()
      expect(second.previous_response_id).toBe(first.id)
      const text = JSON.stringify(sent())
      for (const words of [
        'Weather?',
        'I look it up.',
        'Graz',
        'Wien',
        '20 degrees',
        '25 degrees',
      ]) {
        expect(text).toContain(words)
      }
      // Instructions apply to one request only.
      expect(text).not.toContain('Be brief.')
      expect(text).not.toContain(first.id)

      upstream.behave = answerWith({ text: 'Yes.' })
      await openai.responses.create({ model, previous_response_id: second.id, input: 'Sure?' })
      expect(JSON.stringify(sent())).toMatch(/Weather\?.*25 degrees.*Sunny\..*Sure\?/)
    })

    test("an upstream's error is passed on with its status and headers", async () => {
      upstream.behave = (response) => {
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
        response.end(
          JSON.stringify({
            error: {
              message: 'Slow down.',
              type: 'requests',
              param: null,
              code: 'rate_limit_exceeded',
            },
          }),
        )
      }
      const refused = await openai.responses
        .create({ model, input: 'x' })
        .catch((error: unknown) => error)
      expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' })
      expect((refused as { headers: Headers }).headers.get('retry-after')).toBe('7')
    })

    test('a stream that the upstream breaks off ends with a failure', async () => {
      upstream.behave = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const events = (await import('../support/answer-formats.ts'))[
          model === 'chat-model' ? 'chatStream' : 'responsesStream'
        ]({ text: 'Half of it' })
        for (const event of events.slice(0, -3)) response.write(event)
        setTimeout(() => response.destroy(), 50)
      }
      const types: string[] = []
      const stream = await openai.responses.create({ model, input: 'x', stream: true })
      const read = async () => {
        for await (const event of stream) types.push(event.type)
      }
      await expect(read()).rejects.toThrow(/upstream/)
      expect(types).toContain('response.output_text.delta')
      expect(types).not.toContain('response.completed')

      const chat = await openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'x' }],
        stream: true,
      })
      const readChat = async () => {
        for await (const _ of chat);
      }
      await expect(readChat()).rejects.toThrow(/upstream/)
    })
  })

  test('the demo model streams reasoning, calls an offered tool and repeats its output', async () => {
    const runner = openai.chat.completions.runTools({
      model: 'demo',
      messages: [{ role: 'user', content: 'Weather in Graz?' }],
      tools: [
        {
          type: 'function',
          function: { ...WEATHER, parse: JSON.parse, function: () => '20 degrees' },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('The tools said: 20 degrees.')
  })

  test('the demo model remembers what was said before a previous_response_id', async () => {
    const first = await openai.responses.create({ model: 'demo', input: 'My name is Ada.' })
    const second = await openai.responses.create({
      model: 'demo',
      input: 'Who am I?',
      previous_response_id: first.id,
    })
    expect(second.output_text).toContain('I remember 1 earlier of your messages')
  })

  test('the models endpoint lists all models and returns one by its name', async () => {
    const listed = await openai.models.list()
    expect(listed.data.map(({ id }) => id)).toEqual(['chat-model', 'responses-model', 'demo'])
    expect(await openai.models.retrieve('demo')).toMatchObject({ id: 'demo', owned_by: 'demo' })
    await expect(openai.models.retrieve('nope')).rejects.toMatchObject({ status: 404 })
  })

  test('without API keys, requests from web pages of other origins are rejected', async () => {
    const ask = (origin: string) => fetch(`${host.url}/v1/models`, { headers: { origin } })
    expect((await ask('http://evil.example')).status).toBe(403)
    expect((await ask('http://localhost:3000')).status).toBe(200)
  })

  test('paths without /v1 are accepted', async () => {
    const response = await fetch(`${host.url}/models`)
    expect(response.status).toBe(200)
  })

  test.each(['/v1/models/', '//v1/models', '/v1//models', '/v1/v1/models', '/models/'])(
    'the path %s is treated as /v1/models',
    async (path) => {
      const [meant, odd] = await Promise.all(
        ['/v1/models', path].map(async (one) => (await fetch(host.url + one)).text()),
      )
      expect(odd).toEqual(meant)
    },
  )

  test.each(['/v1//embeddings', '//embeddings', '/v1/v1/embeddings/'])(
    'the path %s is passed to the upstream as /v1/embeddings',
    async (path) => {
      await fetch(host.url + path, { method: 'POST', body: '{}' })
      expect(upstream.received.at(-1)?.path).toBe('/v1/embeddings')
    },
  )

  test.each([
    ['POST', '/v1//chat/completions/', 400],
    ['PUT', '/v1/chat/completions', 404],
  ] as const)(
    'a request with %s %s is not passed to the upstream',
    async (method, path, status) => {
      const before = upstream.received.length
      const messages = [{ role: 'user', content: ['x'] }]
      const requestFields: RequestInit = {
        method,
        body: JSON.stringify({ model: 'chat-model', messages }),
      }
      expect((await fetch(host.url + path, requestFields)).status).toBe(status)
      expect(upstream.received.length).toBe(before)
    },
  )

  test('a request for embeddings is passed to the upstream byte for byte', async () => {
    upstream.behave = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"object": "list",  "data": []}')
    }
    const response = await fetch(`${host.url}/v1/embeddings?x=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer mine' },
      body: '{"model": "chat-model",  "input": "a"}',
    })
    expect(await response.text()).toBe('{"object": "list",  "data": []}')
    expect(upstream.received.at(-1)).toMatchObject({
      path: '/v1/embeddings?x=1',
      text: '{"model": "chat-model",  "input": "a"}',
      headers: { authorization: 'Bearer sk-upstream' },
    })
  })

  test('a compressed request for an endpoint that the gateway only passes through reaches the upstream unchanged', async () => {
    upstream.behave = (response) => void response.end('{}')
    const before = upstream.received.length
    const response = await fetch(`${host.url}/v1/embeddings`, {
      method: 'POST',
      headers: { 'content-encoding': 'x-rot13', authorization: 'Bearer mine' },
      body: 'cnpxrq',
    })
    expect(response.status).toBe(200)
    expect(upstream.received.slice(before)).toMatchObject([
      { text: 'cnpxrq', headers: { 'content-encoding': 'x-rot13' } },
    ])
  })

  test.each(['chat', 'responses', 'conversations', 'memory', 'context'])(
    'unknown paths below /v1/%s are never passed to an upstream',
    async (room) => {
      const before = upstream.received.length
      const messages = [{ role: 'user', content: 'between us' }]
      const response = await fetch(`${host.url}/v1/${room}/explian/twice`, {
        method: 'POST',
        body: JSON.stringify({ model: 'chat-model', messages }),
      })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        error: { message: `Unknown request URL: POST /v1/${room}/explian/twice.` },
      })
      expect(upstream.received.length).toBe(before)
    },
  )

  test.each(['/embeddings?x=1', '/audio/speech', '/images/generations', '/moderations', '/files'])(
    'the path %s is passed to the upstream as a path below /v1',
    async (path) => {
      upstream.behave = (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"data": []}')
      }
      const response = await fetch(host.url + path, { method: 'POST', body: '{"input":  "a"}' })
      expect([response.status, await response.text()]).toEqual([200, '{"data": []}'])
      expect(upstream.received.at(-1)).toMatchObject({
        path: `/v1${path}`,
        text: '{"input":  "a"}',
      })
    },
  )

  test.each([
    '/favicon.ico',
    '/',
    '/v1',
    '/embeddingsx',
    '/context/nothing',
    '/v1/context/nothing',
    '/responses/resp_a/nothing',
    '/conversations/conv_a/nothing',
    '/memory/nothing',
    '/toString/a',
  ])('the path %s gets status 404 and causes no upstream request', async (path) => {
    const before = upstream.received.length
    const response = await fetch(host.url + path)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } })
    expect(upstream.received).toHaveLength(before)
  })

  test('a chat is passed through byte for byte in both directions if the upstream has the same API', async () => {
    const bytes =
      '{"model": "chat-model",  "stream": true, "messages": [{"role": "user", "content": "x", "odd": 1.0}]}'
    const answer = [
      ': hello\n\n',
      'data: {"id":"x", "choices":[{"index":0,"delta":{"content":"hi"},"odd":1.0}]}\n\n',
      'data: {"id":"x", "choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
      'data: [DONE]\n\n',
    ]
    upstream.behave = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const piece of answer) response.write(piece)
      response.end()
    }
    const response = await fetch(`${host.url}/v1/chat/completions`, { method: 'POST', body: bytes })
    expect(await response.text()).toBe(answer.join(''))
    expect(upstream.received.at(-1)?.text).toBe(bytes)
  })

  test('explain shows what would be sent to the upstream, and sends nothing', async () => {
    const before = upstream.received.length
    const explained = async (body: object) => {
      const response = await fetch(`${host.url}/v1/context/explain`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      return (await response.json()) as Record<string, unknown>
    }
    const messages = [
      { role: 'tool', tool_call_id: 'lost', content: 'nobody asked' },
      { role: 'user', content: 'Hi' },
    ]
    expect(await explained({ model: 'responses-model', messages })).toMatchObject({
      api: 'chat',
      upstream: { name: 'r', wire: 'responses', unchanged: false },
      items: { given: 2, remembered: 0, sent: 1 },
      notes: [{ did: 'dropped', at: 0, why: 'output-without-call' }],
    })
    expect(await explained({ api: 'responses', model: 'chat-model', input: 'Hi' })).toMatchObject({
      api: 'responses',
      upstream: { body: { messages: [{ role: 'user', content: 'Hi' }] } },
      notes: [],
    })
    expect(upstream.received.length).toBe(before)
  })
})
