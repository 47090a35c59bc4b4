/** Tests the gateway between the official OpenAI SDK and a server that responds like Gemini. */
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { findGeminiRefusal } from '../../support/gemini-laws.ts'
import { answerJson, answerSse, startUpstream, type Behaviour } from '../../support/upstream.ts'
import { chunk, lastChunk } from './kit.ts'

let upstream: Awaited<ReturnType<typeof startUpstream>>
let gateway: Awaited<ReturnType<typeof startGateway>>
let answers: (readonly object[])[] = []

beforeAll(async () => {
  upstream = await startUpstream(respondAsGemini)
  const account = {
    name: 'google',
    wire: 'gemini',
    baseUrl: upstream.url,
    apiKey: 'k',
    models: ['*'],
  }
  gateway = await startGateway(upstreams(account))
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => {
  upstream.received.length = 0
  answers = [
    [
      chunk({ text: 'I must look.', thought: true }),
      chunk(
        { functionCall: { name: 'look', args: { at: 'Rome' }, id: 'w1' }, thoughtSignature: 'SIG' },
        { functionCall: { name: 'look', args: { at: 'Oslo' }, id: 'w2' } },
      ),
      lastChunk(),
    ],
    [chunk({ text: 'Rome is ' }), chunk({ text: 'warmer.' }), lastChunk()],
  ]
})

const respondAsGemini: Behaviour = (response, received) => {
  const refusal = findGeminiRefusal(received.path.replace(/^\/v1/, ''), received.json as never)
  if (refusal !== null) return answerJson(400, refusal)(response, received)
  const frames = (answers.shift() ?? []).map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`)
  return answerSse(frames)(response, received)
}

const LOOK = {
  type: 'object',
  properties: { at: { type: 'string' } },
  required: ['at'],
  additionalProperties: false,
}

test('a Responses client that sends all items back can run a tool loop with a Gemini model', async () => {
  const input: ResponseInput = [{ role: 'user', content: 'Where is it warmer?' }]
  const ask = () =>
    gateway.openai.responses
      .stream({
        model: 'gemini-3.8-flash',
        store: false,
        include: ['reasoning.encrypted_content'],
        input,
        tools: [{ type: 'function', name: 'look', parameters: LOOK, strict: true }],
      })
      .finalResponse()
  const first = await ask()
  expect(first.output.map(({ type }) => type)).toEqual([
    'reasoning',
    'function_call',
    'function_call',
  ])
  input.push(...(first.output as ResponseInput))
  for (const item of first.output) {
    if (item.type === 'function_call') {
      input.push({ type: 'function_call_output', call_id: item.call_id, output: '20 degrees' })
    }
  }
  expect((await ask()).output_text).toBe('Rome is warmer.')
  expect(JSON.stringify(upstream.received[1]?.json['contents'])).toContain(
    '"thoughtSignature":"SIG"',
  )
})

test('a Responses client with previous_response_id can run a tool loop with a Gemini model', async () => {
  const tools = [{ type: 'function', name: 'look', parameters: LOOK, strict: true } as const]
  const model = 'gemini-3.8-flash'
  const first = await gateway.openai.responses
    .stream({ model, input: 'Where is it warmer?', tools })
    .finalResponse()
  const outputs = first.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: '20' } as const]
      : [],
  )
  const second = await gateway.openai.responses
    .stream({ model, previous_response_id: first.id, input: outputs, tools })
    .finalResponse()
  expect(second.output_text).toBe('Rome is warmer.')
  const [, request] = upstream.received.map(({ json }) => JSON.stringify(json['contents']))
  expect(request).toContain('"thoughtSignature":"SIG"')
  expect(request?.match(/"id":"w[12]"/g)).toEqual([
    '"id":"w1"',
    '"id":"w2"',
    '"id":"w1"',
    '"id":"w2"',
  ])
})

test('a Chat Completions client can run a tool loop with a Gemini model', async () => {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Where is it warmer?' }]
  const runner = gateway.openai.chat.completions.runTools({
    model: 'gemini-3.8-flash',
    stream: true,
    messages,
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          description: 'Looks.',
          parameters: LOOK,
          function: () => '20',
          parse: JSON.parse,
        },
      },
    ],
  })
  expect(await runner.finalContent()).toBe('Rome is warmer.')
  expect(upstream.received).toHaveLength(2)
})

test('a Gemini error about an invalid API key reaches the client as an error of the gateway', async () => {
  const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' }
  upstream.behave = answerJson(400, { error })
  const request = gateway.openai.chat.completions.create({
    model: 'gemini-3.8-flash',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  })
  await expect(request).rejects.toMatchObject({
    status: 502,
    code: 'upstream_access_denied',
    message: expect.stringContaining('API key not valid. (401: ') as string,
  })
  upstream.behave = respondAsGemini
})
