/**
 * Requests of which nothing lawful is left, or less than the client wrote. Over every wire and in both
 * dialects the first are refused, and of the others exactly that is sent which `explain` says.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatFaults } from '../support/chat-laws.ts'
import { PATHS } from '../support/heard.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()

const MODELS = WIRE_MODELS.map(({ model }) => model).filter((model) =>
  ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'].includes(model),
)

async function refused(path: string, body: object) {
  const before = town.services.received.length
  const response = await town.gateway.post(path, body)
  expect(town.services.received.length).toBe(before)
  const { error } = (await response.json()) as { error: object }
  return { status: response.status, ...error }
}

const output = { role: 'tool', tool_call_id: 'a', content: 'x' }
const system = { role: 'system', content: 'Be kind.' }
const given = { type: 'function_call_output', call_id: 'a', output: 'x' }
const reasoning = { type: 'reasoning', summary: [] }

describe.each(MODELS)('over %s', (model) => {
  test.each([
    ['a tool that nobody called', [output], 'messages[0]', /must follow the call/],
    ['it, behind a system message', [system, output], 'messages[1]', /must follow the call/],
  ])('of chat messages: %s', async (_, messages, param, why) => {
    for (const stream of [false, true]) {
      expect(await refused(PATHS.chat, { model, messages, stream })).toEqual({
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_value',
        param,
        message: expect.stringMatching(why) as string,
      })
    }
  })

  test.each([
    ['an output that nobody asked for', { input: [given] }, 'input[0]', /must follow the call/],
    ['it, with instructions', { input: [given], instructions: 'x' }, 'input[0]', /must follow/],
    ['a thought that led to nothing', { input: [reasoning] }, 'input[0]', /must be followed/],
  ])('of a Responses input: %s', async (_, body, param, why) => {
    for (const stream of [false, true]) {
      expect(await refused(PATHS.responses, { model, ...body, stream })).toMatchObject({
        status: 400,
        param,
        message: expect.stringMatching(why) as string,
      })
    }
  })

  test('explain says the same', async () => {
    const body = { api: 'chat', model, messages: [output] }
    expect(await refused('/v1/context/explain', body)).toMatchObject({ param: 'messages[0]' })
  })

  test('a system message alone is a request', async () => {
    const response = await town.gateway.post(PATHS.chat, { model, messages: [system] })
    expect(response.status).toBe(200)
  })
})

test('items of another wire alone are nothing to answer', async () => {
  const input = [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }]
  for (const model of MODELS.filter((one) => one !== 'gpt-5')) {
    expect(await refused(PATHS.responses, { model, input })).toMatchObject({ status: 400 })
  }
})

describe('what is unlawful in a chat', () => {
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

  test('does not reach a chat upstream, and explain tells it to the letter (C12)', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (list) => {
        // The newest word is the user's, so that nothing is left open.
        const asked = [...list, { role: 'user', content: 'Well?' }]
        const body = { model: 'chat-model', messages: asked }
        const response = await town.gateway.post(PATHS.chat, body)
        expect([response.status, town.services.refusals]).toEqual([200, []])
        const sent = town.services.received.at(-1)?.json as never
        expect(chatFaults(sent)).toEqual([])
        const told = await town.gateway.post('/v1/context/explain', { api: 'chat', ...body })
        const { upstream, notes } = (await told.json()) as {
          readonly upstream: { readonly unchanged: boolean; readonly body: object }
          readonly notes: readonly { readonly did: string; readonly why: string }[]
        }
        expect(upstream.body).toEqual(sent)
        // What is not sent as it came has its note, and what has none is the client's own.
        expect(upstream.unchanged).toBe(notes.length === 0)
        if (notes.length === 0) expect(sent).toEqual(body)
      }),
      { numRuns: 60 },
    )
  })
})
