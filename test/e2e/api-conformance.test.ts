/** Details in which requests, errors and responses agree with OpenAI's API, over every wire. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { schemaFaults } from '../support/openapi.ts'
import { connect } from '../support/socket-client.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'

const env = useGatewayWithServices()
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function post(path: string, body: object) {
  const response = await env.gateway.post(`/v1/${path}`, body)
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

describe('max_output_tokens below 16', () => {
  const body = { model: 'chat-model', input: 'Hi', max_output_tokens: 15 }
  const error = { code: 'integer_below_min_value', param: 'max_output_tokens' }

  test('is rejected in the Responses API, over HTTP and over a WebSocket', async () => {
    expect(await post('responses', body)).toMatchObject({ status: 400, json: { error } })
    expect((await post('responses', { ...body, max_output_tokens: 16 })).status).toBe(200)
    const client = await connect(env.gateway.url)
    const answer = await client.ask({ type: 'response.create', ...body })
    expect(answer.refusal).toBe('400 integer_below_min_value')
    client.socket.close()
    await client.closed
  })

  test('is accepted in Chat Completions, because clients test models with one token', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    for (const model of ['chat-model', 'gpt-5'])
      expect((await post('chat/completions', { model, messages, max_tokens: 1 })).status).toBe(200)
  })
})

describe('an image with broken base64', () => {
  const broken = 'data:image/png;base64,!!not base64!!'
  const readable = `data:image/png;base64,${PIXEL}`
  const inResponses = (url: string) => ({
    role: 'user',
    content: [
      { type: 'input_text', text: 'See' },
      { type: 'input_image', image_url: url },
    ],
  })
  const inChat = (url: string) => ({
    role: 'user',
    content: [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url } },
    ],
  })

  test.each(['chat-model', 'gpt-5', 'claude-sonnet-4-5', 'gemini-3-pro-preview'])(
    'is rejected in the latest user message and replaced by a notice in earlier ones, for the model %s',
    async (model) => {
      for (const [path, list, message] of [
        ['responses', 'input', inResponses],
        ['chat/completions', 'messages', inChat],
      ] as const) {
        const answer = { role: 'assistant', content: 'I see nothing.' }
        const latest = [inResponses(readable), answer, message(broken)].slice(1)
        const rejected = await post(path, { model, [list]: [message(readable), ...latest] })
        expect(rejected).toMatchObject({
          status: 400,
          json: {
            error: {
              type: 'invalid_request_error',
              code: 'invalid_base64_image',
              param: `${list}[2].content[1]`,
            },
          },
        })
        const later = [message(broken), answer, { role: 'user', content: 'And now?' }]
        expect((await post(path, { model, [list]: later })).status).toBe(200)
      }
    },
  )

  test('does not make a stored conversation unusable', async () => {
    const { openai } = env.gateway
    const first = await openai.responses.create({ model: 'chat-model', input: 'Hi' })
    const more = { model: 'chat-model', previous_response_id: first.id }
    const input = [inResponses(broken)] as never
    await expect(openai.responses.create({ ...more, input })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_base64_image',
    })
    expect((await openai.responses.create({ ...more, input: 'Hello?' })).status).toBe('completed')
  })
})

describe('a model that only the upstream does not know', () => {
  test.each([
    ['chat', 404, { error: { message: 'The model `x` does not exist.', code: 404 } }],
    ['chat', 404, { error: { message: 'model "x" not found, try pulling it first' } }],
    ['anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: x' } }],
    [
      'anthropic',
      404,
      { type: 'error', error: { type: 'not_found_error', message: 'The model x does not exist.' } },
    ],
    [
      'gemini',
      404,
      { error: { code: 404, message: 'models/x is not found', status: 'NOT_FOUND' } },
    ],
    ['responses', 400, { error: { message: 'No x.', code: 'model_not_found', param: 'model' } }],
    ['responses', 404, { error: { message: 'The model x does not exist.', code: null } }],
  ])(
    'gets the status and code of the API of the client, over the wire %s (%i %j)',
    async (wire, status, body) => {
      const upstream = await startUpstream(answerJson(status, body))
      const account = {
        name: 'u',
        wire,
        baseUrl: upstream.url,
        apiKey: 'k',
        models: ['*'],
      } as const
      const gateway = await startGateway(upstreams(account))
      const messages = [{ role: 'user' as const, content: 'Hi' }]
      for (const stream of [false, true]) {
        await expect(
          gateway.openai.responses.create({ model: 'x', input: 'Hi', stream }),
        ).rejects.toMatchObject({ status: 400, code: 'model_not_found', param: 'model' })
        await expect(
          gateway.openai.chat.completions.create({ model: 'x', messages, stream }),
        ).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
      }
      await gateway.close()
      await upstream.close()
    },
  )
})

describe('a response object of a server other than OpenAI', () => {
  const BARE = {
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'upstream-model',
    output: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    text: { verbosity: 'low' },
    temperature: 0.3,
  }
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream((response, { json }) => {
      const content = { type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }
      const item = {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [content],
      }
      const whole = { ...BARE, output: [item] }
      if (json['stream'] !== true) return void response.end(JSON.stringify(whole))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = [
        { type: 'response.created', response: { ...BARE, status: 'in_progress', usage: null } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: whole },
      ].map((event, index) => ({ ...event, sequence_number: index }))
      response.end(
        events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      )
    })
  })
  afterAll(() => upstream.close())

  const ask = async (quirks: object, body: object) => {
    const account = {
      name: 'u',
      wire: 'responses',
      baseUrl: upstream.url,
      apiKey: 'k',
      models: ['*'],
      quirks,
    }
    const gateway = await startGateway({ UPSTREAMS: JSON.stringify([account]) })
    const openai = openaiFor(gateway.url)
    const whole = await openai.responses.create({ model: 'm', input: 'Hi', ...body })
    const seen: unknown[] = [{ ...whole, output_text: undefined }]
    const stream = await openai.responses.create({ model: 'm', input: 'Hi', ...body, stream: true })
    for await (const event of stream) if ('response' in event) seen.push(event.response)
    await gateway.close()
    return seen
  }

  test.each([{}, { store: false }])(
    'gets the required fields that it lacks, and keeps its own (%j)',
    async (body) => {
      const seen = await ask({}, body)
      expect(seen).toHaveLength(3)
      for (const response of seen) {
        expect(response).toMatchObject({
          temperature: 0.3,
          model: 'upstream-model',
          access_programs: null,
          parallel_tool_calls: true,
          tools: [],
          text: { format: { type: 'text' }, verbosity: 'low' },
        })
        expect(schemaFaults('open-responses', 'ResponseResource', response)).toEqual([])
      }
      for (const complete of [seen[0], seen[2]])
        expect(schemaFaults('openai', 'Response', complete)).toEqual([])
    },
  )

  test('is passed through as it is if the quirk completeResponses says that nothing is missing', async () => {
    const [whole] = await ask({ completeResponses: true }, { store: false })
    expect(whole).not.toHaveProperty('tools')
  })
})

describe('encrypted reasoning of a Responses upstream', () => {
  test.each([
    [{}, false],
    [{ include: ['reasoning.encrypted_content'] }, true],
    [{ store: false }, false],
    [{ store: false, include: ['reasoning.encrypted_content'] }, true],
  ] as const)('with %j, the client is sent it: %s', async (fields, isSent) => {
    const body = {
      model: 'gpt-5',
      input: [{ role: 'user', content: 'think about it' }],
      reasoning: { effort: 'high' },
      ...fields,
    }
    const response = await env.gateway.post('/v1/responses', { ...body, stream: true })
    const text = await response.text()
    const whole = JSON.stringify((await post('responses', body)).json)
    for (const answer of [text, whole]) {
      expect(answer).toContain('"type":"reasoning"')
      expect(/"encrypted_content":"/.test(answer)).toBe(isSent)
    }
  })
})
