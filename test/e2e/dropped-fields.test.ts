/**
 * The header `x-backstory-dropped` lists the fields of a request that were dropped or weakened, and a response lists
 * only the tools that the model was offered.
 */
import { describe, expect, test } from 'vitest'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { connect } from '../support/socket-client.ts'
import { openaiFor } from '../support/gateway.ts'

const env = useGatewayWithServices()
const HEADER = 'x-backstory-dropped'

const messages = [{ role: 'user', content: 'Hi' }]
const SCHEMA = { type: 'object', properties: {}, required: [], additionalProperties: false }
const FUNCTION = { type: 'function', name: 'f', parameters: SCHEMA, strict: false }
const SEARCH = { type: 'x_search' }

async function post(path: string, body: object, headers: object = {}) {
  const response = await env.gateway.post(`/v1/${path}`, body, headers)
  const text = await response.text()
  return { status: response.status, dropped: response.headers.get(HEADER), text }
}

describe.each([false, true])('with stream: %s, the header x-backstory-dropped', (stream) => {
  test('lists the parameters and tools of a chat request that the upstream does not have', async () => {
    const tools = [
      { type: 'x_search' },
      { type: 'function', function: { name: 'f', strict: true, defer_loading: true } },
    ]
    const body = { model: 'claude-sonnet-4-5', messages, stream, n: 2, seed: 7, tools }
    const { status, dropped } = await post('chat/completions', body)
    expect(status).toBe(200)
    expect(dropped?.split(', ').toSorted()).toEqual([
      'n',
      'seed',
      'tools[0]',
      'tools[1].function.defer_loading',
      'tools[1].function.strict',
    ])
  })

  test('lists a tool choice that forces a call if the model cannot be forced', async () => {
    const body = { model: 'claude-sonnet-5-5', input: 'Hi', stream, tools: [FUNCTION] }
    const { dropped, text } = await post('responses', { ...body, tool_choice: 'required' })
    expect(dropped).toBe('tool_choice')
    expect(text).toContain('"tool_choice":"auto"')
    expect(text).not.toContain('"tool_choice":"required"')
  })

  test('is missing if nothing was lost, or only what the client did not ask for', async () => {
    const { strict: _strict, ...tool } = FUNCTION
    for (const path of ['chat/completions', 'responses']) {
      const input = path === 'responses' ? { input: 'Hi', tools: [tool] } : { messages, n: 1 }
      for (const model of ['chat-model', 'claude-sonnet-4-5', 'gemini-3-pro-preview']) {
        const { status, dropped, text } = await post(path, { model, stream, ...input })
        expect([path, model, status, dropped, status === 200 ? '' : text]).toEqual([
          path,
          model,
          200,
          null,
          '',
        ])
      }
    }
  })

  test('is valid for any names of fields', async () => {
    const body = { model: 'claude-sonnet-4-5', messages, stream, 'größe, \n': 1 }
    expect(await post('chat/completions', body)).toMatchObject({
      status: 200,
      dropped: 'gr%C3%B6%C3%9Fe%2C%20%0A',
    })
  })
})

test('a response lists only the tools that the model was offered, when it is created and when it is read', async () => {
  const body = {
    model: 'claude-sonnet-4-5',
    input: 'Hi',
    tools: [SEARCH, FUNCTION],
    tool_choice: SEARCH,
  }
  const whole = await post('responses', body)
  expect(whole.dropped).toBe('tools[0], tool_choice')
  const created = JSON.parse(whole.text) as { readonly id: string; readonly tools: unknown }
  expect(created).toMatchObject({ tools: [{ type: 'function', name: 'f' }], tool_choice: 'auto' })
  const read = await env.gateway.openai.responses.retrieve(created.id)
  expect(read.tools).toEqual(created.tools)
  expect(read.tool_choice).toBe('auto')

  const { text } = await post('responses', { ...body, stream: true })
  expect(text).not.toContain('x_search')
  // A hosted tool of an upstream with the client's API is offered.
  const search = { type: 'web_search' }
  const passed = await post('responses', { model: 'gpt-5', input: 'Hi', tools: [search] })
  expect(passed.dropped).toBe(null)
  expect(JSON.parse(passed.text)).toMatchObject({ tools: [search] })
})

test('a background response can be continued and read if a tool was not offered', async () => {
  const { openai } = env.gateway
  const tools = [SEARCH, FUNCTION] as never
  const model = 'claude-sonnet-4-5'
  const started = await openai.responses.create({ model, input: 'Hi', tools, background: true })
  await expect
    .poll(async () => (await openai.responses.retrieve(started.id)).status)
    .toBe('completed')
  expect((await openai.responses.retrieve(started.id)).tools).toMatchObject([{ name: 'f' }])
  const next = { model, input: 'And?', previous_response_id: started.id }
  expect((await openai.responses.create(next)).status).toBe('completed')
})

test('over a WebSocket, the first message of an answer has the header as a field', async () => {
  const client = await connect(env.gateway.url)
  const create = { type: 'response.create', input: 'Hi', tools: [SEARCH] }
  const lossy = await client.ask({ ...create, model: 'claude-sonnet-4-5' })
  expect(lossy.faults).toEqual([])
  expect(lossy.frames[0]).toMatchObject({
    type: 'response.created',
    headers: { [HEADER]: 'tools[0]' },
  })
  expect(lossy.frames.slice(1).filter((frame) => 'headers' in frame)).toEqual([])
  const complete = await client.ask({ type: 'response.create', model: 'gpt-5', input: 'Hi' })
  expect(complete.frames.filter((frame) => 'headers' in frame)).toEqual([])
  client.socket.close()
  await client.closed
})

test("a function's field that the upstream lacks is a reason to reject the request", async () => {
  const tools = [{ ...FUNCTION, allowed_callers: ['programmatic'] }]
  const body = { model: 'chat-model', input: 'Hi', tools }
  const { status, text } = await post('responses', body, { 'x-backstory-unsupported': 'reject' })
  expect(status).toBe(400)
  expect(JSON.parse(text)).toMatchObject({
    error: { code: 'unsupported_parameter', param: 'tools[0].allowed_callers' },
  })
  expect((await post('responses', body)).dropped).toBe('tools[0].allowed_callers')
  const direct = { ...body, tools: [{ ...FUNCTION, allowed_callers: ['direct'] }] }
  expect((await post('responses', direct)).dropped).toBe(null)
})

test('the official SDK reads the header', async () => {
  const { response } = await openaiFor(env.gateway.url)
    .chat.completions.create({
      model: 'claude-sonnet-4-5',
      messages: [{ role: 'user', content: 'Hi' }],
      seed: 1,
      logit_bias: { 5: 1 },
    })
    .withResponse()
  expect(response.headers.get(HEADER)?.split(', ').toSorted()).toEqual(['logit_bias', 'seed'])
})
