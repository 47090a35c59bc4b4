/**
 * Sends random conversations to every service: each request that reaches a service is valid there and is
 * answered.
 */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { isUserMessage } from '../../src/core/items/rounds-and-pinned-items.ts'
import { createSseDecoder } from '../../src/core/stream/sse.ts'
import { runStage } from '../../src/core/stream/stream-stage.ts'
import { conversation } from '../support/conversations.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { ANSWER_SCHEMA, LOOK_TOOL, WIRE_MODELS } from '../support/wire-models.ts'
import { hasOpenCall } from '../support/has-open-call.ts'
import { toResponsesInput, toChatMessages } from '../support/items-as-client-input.ts'

const setup = useGatewayWithServices()
beforeAll(() => void (setup.services.checksSeals = false))

const NEWEST: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'And now?' }],
}
/**
 * Ends with a question of the user, unless a tool output comes after one. Calls without an output stay: there
 * the service reports the error.
 */
const requestFields = fc.tuple(conversation, fc.boolean()).map(([items, isOver]) => {
  const isToBeAsked = isOver || !items.some(isUserMessage) || hasOpenCall(items)
  return isToBeAsked ? [...items, NEWEST] : items
})

const settings = fc.record({
  model: fc.constantFrom(...WIRE_MODELS.map(({ model }) => model)),
  stream: fc.boolean(),
  effort: fc.constantFrom(null, 'low', 'none'),
  hasFormat: fc.boolean(),
  toolChoice: fc.constantFrom(undefined, 'auto', 'none', 'required'),
})
const format = { name: 'weather', strict: true, schema: ANSWER_SCHEMA }

const OPTIONS = { numRuns: 250 }

/** Returns the body of an answer, after checking that neither the gateway nor a service rejected the request. */
async function postAndCheck(path: string, body: unknown): Promise<string> {
  const response = await setup.gateway.post(path, body)
  const text = await response.text()
  expect(setup.services.refusals.splice(0)).toEqual([])
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  return text
}

test('a random Responses conversation is answered over every wire, streamed or not', async () => {
  const property = fc.asyncProperty(
    requestFields,
    settings,
    fc.boolean(),
    async (items, how, store) => {
      const { model, stream, effort, hasFormat, toolChoice } = how
      const text = await postAndCheck('/v1/responses', {
        model,
        stream,
        store,
        tools: [{ type: 'function', strict: true, ...LOOK_TOOL }],
        tool_choice: toolChoice,
        ...(effort === null ? {} : { reasoning: { effort } }),
        ...(hasFormat ? { text: { format: { type: 'json_schema', ...format } } } : {}),
        input: toResponsesInput(items),
      })
      if (!stream) return
      const messages = runStage(createSseDecoder(), [Buffer.from(text)])
      // A Responses upstream's own stream is passed through unchecked, unless the gateway stores it.
      const isOurs = model !== 'gpt-5'
      const strictness = { sentinel: isOurs || store, wholeResponses: isOurs }
      expect(responsesFaults(messages, strictness)).toEqual([])
    },
  )
  await fc.assert(property, OPTIONS)
})

test('a random chat is answered over every wire, streamed or not', async () => {
  const property = fc.asyncProperty(
    requestFields.map(toChatMessages),
    settings,
    async (messages, how) => {
      const { model, stream, effort, hasFormat, toolChoice } = how
      await postAndCheck('/v1/chat/completions', {
        model,
        stream,
        tools: [{ type: 'function', function: LOOK_TOOL }],
        tool_choice: toolChoice,
        ...(effort === null ? {} : { reasoning_effort: effort }),
        ...(hasFormat ? { response_format: { type: 'json_schema', json_schema: format } } : {}),
        messages,
      })
    },
  )
  await fc.assert(property, OPTIONS)
})
