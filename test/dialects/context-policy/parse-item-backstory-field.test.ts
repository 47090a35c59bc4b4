import { describe, expect, test } from 'vitest'
import { isCompactionMessage } from '../../../src/core/items/compaction-item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { isPinnedByClient } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { isHistorySummary } from '../../../src/core/items/summary-message.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import { parseRequestAndBackstoryFields } from '../../../src/dialects/context-policy/parse-request-and-backstory-fields.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'

const parseChat = (body: JsonObject) => parseRequestAndBackstoryFields(chatDialect, body)
const parseResponses = (body: JsonObject) => parseRequestAndBackstoryFields(responsesDialect, body)

const author = { id: 'u1', name: 'Ann', type: 'user' }
const field = { pin: true, author, reset: true, sent_at: 1_767_225_600 }

describe('the field `backstory` of an item', () => {
  test('the field `backstory` of an input item is stored with the parsed item and removed from the request body', () => {
    const body = {
      model: 'm',
      input: [
        { role: 'user', content: 'hi', backstory: field },
        { type: 'web_search_call', id: 'ws_1', backstory: { pin: true } },
      ],
    }
    const { items, ...clientRequest } = parseResponses(body)
    expect(items[0]?.native).toEqual({ backstory: field })
    expect(items.map(isPinnedByClient)).toEqual([true, true])
    expect('backstory' in items[0]!).toBe(false)
    expect(items[1]).toMatchObject({ raw: { type: 'web_search_call', id: 'ws_1' } })
    expect(JSON.stringify(items[1])).not.toContain('"raw":{"type":"web_search_call","id":"ws_1","b')
    expect(JSON.stringify(clientRequest.body)).not.toContain('backstory')
    expect(new TextDecoder().decode(clientRequest.bytes())).toBe(JSON.stringify(clientRequest.body))
  })

  test('the field `backstory` of a chat message is stored with all items of the message, but its `reset` only with the first', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]
    const { items, body } = parseChat({
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'so', tool_calls: calls, backstory: { author, reset: true } },
        { role: 'tool', tool_call_id: 'a', content: 'found', backstory: { pin: true } },
      ],
    })
    expect(items.map(({ native }) => native?.['backstory'])).toEqual([
      undefined,
      { author, reset: true },
      { author },
      { pin: true },
    ])
    expect(JSON.stringify(body)).not.toContain('backstory')
  })

  test("a request body without the items' field `backstory` is serialized only when its bytes are needed, and only once", () => {
    let serializations = 0
    const label = { toJSON: () => `${(serializations += 1)}` }
    const messages = [{ role: 'user', content: 'hi', backstory: field }]
    const { bytes } = parseChat({ model: 'm', messages, label } as unknown as JsonObject)
    expect(serializations).toBe(0)
    expect(bytes()).toBe(bytes())
    expect(serializations).toBe(1)
  })

  test("a request in which no item has the field `backstory` keeps the client's body object and bytes", () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'backstory' }] }
    const bytes = () => new Uint8Array(1)
    const clientRequest = parseRequestAndBackstoryFields(chatDialect, body, bytes)
    expect(clientRequest.body).toBe(body)
    expect(clientRequest.bytes).toBe(bytes)
  })

  test('the field `backstory` of an item is not stored if it sets nothing', () => {
    const input = [{}, null, { pin: false, author: null }].map((backstory) => ({
      role: 'user',
      content: 'hi',
      backstory,
    }))
    const { items } = parseResponses({ model: 'm', input })
    expect(items.map(({ native }) => native)).toEqual([undefined, undefined, undefined])
  })
})

test.each([
  [{ author: { name: 1 } }, 'backstory.author.name', 'invalid_type'],
  [{ author: { name: ' ' } }, 'backstory.author.name', 'invalid_value'],
  [{ author: {} }, 'backstory.author.id', 'missing_required_parameter'],
  [{ author: { id: 'x', type: 'god' } }, 'backstory.author.type', 'invalid_value'],
  [{ author: { id: 'x', nick: 'y' } }, 'backstory.author.nick', 'unknown_parameter'],
  [{ author: 'Ann' }, 'backstory.author', 'invalid_type'],
  [{ pin: 'yes' }, 'backstory.pin', 'invalid_type'],
  [{ reset: 1 }, 'backstory.reset', 'invalid_type'],
  [{ sent_at: -1 }, 'backstory.sent_at', 'integer_below_min_value'],
  ['lean', 'backstory', 'invalid_type'],
  [{ compaction: true }, 'backstory.compaction', 'unknown_parameter'],
  [{ note: true }, 'backstory.note', 'unknown_parameter'],
])(
  'the field `backstory` %j of an item is rejected with the path of the fault',
  (backstory, path, code) => {
    const readFailure = (parse: () => unknown) => {
      try {
        parse()
      } catch (error) {
        if (error instanceof GatewayError) return error.failure
        throw error
      }
      return null
    }
    const message = { role: 'user', content: 'hi', backstory }
    const first = { role: 'user', content: 'hi' }
    expect(readFailure(() => parseChat({ model: 'm', messages: [first, message] }))).toMatchObject({
      status: 400,
      code,
      param: `messages[1].${path}`,
    })
    expect(readFailure(() => parseResponses({ model: 'm', input: [message] }))).toMatchObject({
      status: 400,
      code,
      param: `input[0].${path}`,
    })
  },
)

test('fields with which a client marks an item as a compaction or a summary of the gateway are removed', () => {
  const native = { backstory: { compaction: true, summary: true } }
  const { items } = parseResponses({
    model: 'm',
    input: [{ role: 'developer', content: 'obey', native, backstory: { pin: true } }],
  })
  expect(items.some(isCompactionMessage)).toBe(false)
  expect(items.some(isHistorySummary)).toBe(false)
})
