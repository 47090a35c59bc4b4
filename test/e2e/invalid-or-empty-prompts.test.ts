/**
 * Requests of which no valid item is left, or fewer than the client sent: over every wire and in both
 * dialects, the former are rejected, and the latter are sent exactly as explain shows.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findChatFaults } from '../support/chat-laws.ts'
import { PATHS } from '../support/read-client-answer.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()

const MODELS = WIRE_MODELS.map(({ model }) => model).filter((model) =>
  ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'].includes(model),
)

async function postAndReadError(path: string, body: object) {
  const before = setup.services.received.length
  const response = await setup.gateway.post(path, body)
  expect(setup.services.received.length).toBe(before)
  const { error } = (await response.json()) as { error: object }
  return { status: response.status, ...error }
}

const output = { role: 'tool', tool_call_id: 'a', content: 'x' }
const system = { role: 'system', content: 'Be kind.' }
const original = { type: 'function_call_output', call_id: 'a', output: 'x' }
const reasoning = { type: 'reasoning', summary: [] }

describe.each(MODELS)('prompts that are invalid or empty over %s', (model) => {
  test.each([
    ['a tool message without a call', [output], 'messages[0]', /must follow the call/],
    ['the same after a system message', [system, output], 'messages[1]', /must follow the call/],
  ])('chat messages that consist only of %s are rejected', async (_, messages, param, why) => {
    for (const stream of [false, true]) {
      expect(await postAndReadError(PATHS.chat, { model, messages, stream })).toEqual({
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_value',
        param,
        message: expect.stringMatching(why) as string,
      })
    }
  })

  test.runIf(model !== 'gpt-5')(
    'a prompt that is stored at OpenAI is named as the reason, if there is no input',
    async () => {
      const body = { model, prompt: { id: 'pmpt_1' } }
      expect(await postAndReadError(PATHS.responses, body)).toMatchObject({
        status: 400,
        param: 'prompt',
        message: expect.stringMatching(/stored at OpenAI.*Send the text as 'input'/) as string,
      })
    },
  )

  test.each([
    ['an output without a call', { input: [original] }, 'input[0]', /must follow the call/],
    [
      'the same with instructions',
      { input: [original], instructions: 'x' },
      'input[0]',
      /must follow/,
    ],
    ['reasoning without a following item', { input: [reasoning] }, 'input[0]', /must be followed/],
  ])('a Responses input that consists only of %s is rejected', async (_, body, param, why) => {
    for (const stream of [false, true]) {
      expect(await postAndReadError(PATHS.responses, { model, ...body, stream })).toMatchObject({
        status: 400,
        param,
        message: expect.stringMatching(why) as string,
      })
    }
  })

  test('explain rejects an empty prompt with the error that a chat request gets', async () => {
    const body = { api: 'chat', model, messages: [output] }
    expect(await postAndReadError('/v1/context/explain', body)).toMatchObject({
      param: 'messages[0]',
    })
  })

  test('a system message alone is accepted', async () => {
    const response = await setup.gateway.post(PATHS.chat, { model, messages: [system] })
    expect(response.status).toBe(200)
  })
})

test("an input of which the upstream's wire can send no item is rejected", async () => {
  const input = [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }]
  for (const model of MODELS.filter((one) => one !== 'gpt-5')) {
    expect(await postAndReadError(PATHS.responses, { model, input })).toMatchObject({ status: 400 })
  }
})

const ids = fc.constantFrom('a', 'b')
const called = fc.array(ids, { minLength: 1, maxLength: 3 }).map((list) => ({
  role: 'assistant',
  content: null,
  tool_calls: [...new Set(list)].map((id) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  })),
}))
const answered = ids.map((tool_call_id) => ({ ...output, tool_call_id }))
const spoke = fc.constantFrom('user', 'assistant').map((role) => ({ role, content: 'Hm.' }))
const messages = fc.array(fc.oneof(called, answered, spoke), { maxLength: 8 })

test('invalid chat messages do not reach a chat upstream, and explain shows the corrected body byte for byte (C12)', async () => {
  await fc.assert(
    fc.asyncProperty(messages, async (list) => {
      // The last message is a user's, so that no call waits for its output.
      const requestFields = [...list, { role: 'user', content: 'Well?' }]
      const body = { model: 'chat-model', messages: requestFields }
      const response = await setup.gateway.post(PATHS.chat, body)
      expect([response.status, setup.services.refusals]).toEqual([200, []])
      const sent = setup.services.received.at(-1)?.json as never
      expect(findChatFaults(sent)).toEqual([])
      const result = await setup.gateway.post('/v1/context/explain', { api: 'chat', ...body })
      const { upstream, notes } = (await result.json()) as {
        readonly upstream: { readonly unchanged: boolean; readonly body: object }
        readonly notes: readonly { readonly did: string; readonly why: string }[]
      }
      expect(upstream.body).toEqual(sent)
      // Every changed message has a note; a request without notes is sent unchanged.
      expect(upstream.unchanged).toBe(notes.length === 0)
      if (notes.length === 0) expect(sent).toEqual(body)
    }),
    { numRuns: 60 },
  )
})
