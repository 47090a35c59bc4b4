/**
 * "Continue Response" over a Responses connection: whatever Open WebUI does with the events of the answer,
 * the message has its old items, then the new ones, each once.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'
import {
  continueItems,
  joinAtSeam,
  partsOf,
  type Items,
} from '../../../support/open-webui/response-reducer.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import { answeringTo, jsonOf, lastResponse, renderEvents } from '../../../support/responses-kit.ts'

const QUESTION = { type: 'message', role: 'user', content: 'Think of a number.' }
const THOUGHT = {
  type: 'reasoning',
  id: 'rs_0',
  summary: [{ type: 'summary_text', text: 'Seven.' }],
}
const CALL = { type: 'function_call', id: 'fc_0', call_id: 'c', name: 'roll', arguments: '{}' }
const RESULT = {
  type: 'function_call_output',
  call_id: 'c',
  output: [{ type: 'input_text', text: '7' }],
}
const WORDS = {
  type: 'message',
  id: 'msg_0',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'I have thought of a number.' }],
}

/** The items of the message before; Open WebUI sends back all but the reasoning. */
const before = fc.constantFrom<Items>(
  [WORDS],
  [THOUGHT, WORDS],
  [THOUGHT, CALL, RESULT, THOUGHT, WORDS],
  [WORDS, CALL, RESULT, WORDS],
)

function renderForOpenWebUi(events: readonly StreamEvent[], sentBack: Items) {
  const input = [QUESTION, ...sentBack.filter((item) => item !== THOUGHT)]
  const context = answeringTo({ model: 'm', input })
  const { clientRequest } = context
  const client = { ...clientRequest.client, isOpenWebUi: true, dropsLongLines: true }
  return renderEvents(events, { ...context, clientRequest: { ...clientRequest, client } })
}

/** What Open WebUI shows of an item, and sends back. */
function shown(item: JsonObject): unknown {
  const { type, call_id: callId, name, arguments: args, output } = item
  const parts = [...partsOf(item, 'summary'), ...partsOf(item, 'content')]
  const text = parts.map(({ text: words, refusal }) => words ?? refusal ?? '').join('')
  return { type, text, callId, name, args, output }
}

describe.each(['0.10', '0.12'] as const)('continued by Open WebUI %s', (version) => {
  test('a message keeps its items and gets each new item once, for any answer', () => {
    fc.assert(
      fc.property(before, fc.oneof(answer, tangledAnswer), (old, events) => {
        const added = (lastResponse(renderForOpenWebUi(events, []))['output'] ?? []) as Items
        const stream = renderForOpenWebUi(events, old).filter(({ data }) => data !== '[DONE]')
        const items = continueItems(version, old, stream.map(jsonOf))
        const expected = version === '0.10' ? [...old, ...added] : joinAtSeam(old, added)
        expect(items.map(shown)).toEqual(expected.map(shown))
      }),
      numberOfRuns(300),
    )
  })

  test('a message keeps its items, whatever the decoded events are', () => {
    fc.assert(
      fc.property(before, nonsense, (old, events) => {
        const stream = renderForOpenWebUi(events, old).filter(({ data }) => data !== '[DONE]')
        const items = continueItems(version, old, stream.map(jsonOf)).map(shown)
        expect(items.slice(0, old.length - 1)).toEqual(old.slice(0, -1).map(shown))
        expect(items[old.length - 1]).toHaveProperty(
          'text',
          expect.stringMatching(/^I have thought of a number\./),
        )
      }),
      numberOfRuns(200),
    )
  })
})
