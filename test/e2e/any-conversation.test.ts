/** Whatever was said before, by whomever: what reaches a service is lawful there, and is answered. */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { isUserMessage } from '../../src/core/items/rounds-and-pinned-items.ts'
import { createSseDecoder } from '../../src/core/stream/sse.ts'
import { runStage } from '../../src/core/stream/stage.ts'
import { conversation } from '../support/conversations.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { ANSWER_SCHEMA, LOOK, WIRE_MODELS } from '../support/wire-models.ts'
import { waitsForOutput } from '../support/waits-for-output.ts'
import { asInput, asMessages } from '../support/written-conversations.ts'

const town = serviceTown()
beforeAll(() => void (town.services.checksSeals = false))

const NEWEST: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'And now?' }],
}
/**
 * Somebody has asked something; it may have been before a tool answered. Before all tools have, it
 * is the service that says so.
 */
const asked = fc.tuple(conversation, fc.boolean()).map(([items, isOver]) => {
  const isToBeAsked = isOver || !items.some(isUserMessage) || waitsForOutput(items)
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

/** The body of an answer, when nobody had anything to complain about. */
async function answered(path: string, body: unknown): Promise<string> {
  const response = await town.gateway.post(path, body)
  const text = await response.text()
  expect(town.services.refusals.splice(0)).toEqual([])
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  return text
}

test('of the Responses API, streamed or not', async () => {
  const property = fc.asyncProperty(asked, settings, fc.boolean(), async (items, how, store) => {
    const { model, stream, effort, hasFormat, toolChoice } = how
    const text = await answered('/v1/responses', {
      model,
      stream,
      store,
      tools: [{ type: 'function', strict: true, ...LOOK }],
      tool_choice: toolChoice,
      ...(effort === null ? {} : { reasoning: { effort } }),
      ...(hasFormat ? { text: { format: { type: 'json_schema', ...format } } } : {}),
      input: asInput(items),
    })
    if (!stream) return
    const messages = runStage(createSseDecoder(), [Buffer.from(text)])
    // What comes from a service of this language is its own, unless the gateway keeps it.
    const isOurs = model !== 'gpt-5'
    const strictness = { sentinel: isOurs || store, wholeResponses: isOurs }
    expect(responsesFaults(messages, strictness)).toEqual([])
  })
  await fc.assert(property, OPTIONS)
})

test('of Chat Completions, streamed or not', async () => {
  const property = fc.asyncProperty(asked.map(asMessages), settings, async (messages, how) => {
    const { model, stream, effort, hasFormat, toolChoice } = how
    await answered('/v1/chat/completions', {
      model,
      stream,
      tools: [{ type: 'function', function: LOOK }],
      tool_choice: toolChoice,
      ...(effort === null ? {} : { reasoning_effort: effort }),
      ...(hasFormat ? { response_format: { type: 'json_schema', json_schema: format } } : {}),
      messages,
    })
  })
  await fc.assert(property, OPTIONS)
})
