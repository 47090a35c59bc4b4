/** Tests answers that break off or contain invalid data. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { isObject, type JsonObject } from '../../../../src/core/json/json.ts'
import { anthropic } from '../../../../src/providers/anthropic/anthropic.ts'
import {
  accountOf,
  createAnswer,
  decode,
  decodeSse,
  expectOrdered,
  itemsOf,
  textBlock,
} from '../kit.ts'

const HI = textBlock('Hi', ' there')

function lastEvent(events: readonly StreamEvent[]): StreamEvent | undefined {
  return events.at(-1)
}

describe('failures in Anthropic answers', () => {
  const startedAnswer = [
    ...createAnswer(HI).slice(0, 3),
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'a', name: 'look', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{"a' },
    },
  ]

  test("an error event after status 200 fails the answer with Anthropic's message and keeps the received items", () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const events = decode([...startedAnswer, { type: 'error', error, request_id: 'req_1' }])
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      expect.objectContaining({ status: 'incomplete', arguments: '{"a' }),
    ])
    expect(lastEvent(events)).toMatchObject({
      type: 'answer-failed',
      failure: {
        status: 529,
        type: 'server_error',
        code: 'overloaded_error',
        message: 'Overloaded',
      },
      usage: { inputTokens: 3 },
    })
  })

  test('an Anthropic stream without message_stop is a failure, even if the answer looks complete', () => {
    const events = decode(createAnswer(HI).slice(0, -1))
    expectOrdered(events)
    expect(lastEvent(events)).toMatchObject({
      type: 'answer-failed',
      failure: { code: 'upstream_broken' },
    })
  })

  test('an Anthropic stream that breaks off within a text keeps the text as an incomplete message', () => {
    const events = decode(startedAnswer.slice(0, 3))
    expectOrdered(events)
    expect(itemsOf(events)).toMatchObject([{ status: 'incomplete', content: [{ text: 'Hi' }] }])
  })

  test('an Anthropic stream without events is a failure', () => {
    const events = decode([])
    expectOrdered(events)
    expect(lastEvent(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
  })

  test.each(['{"type":', 'null', '"text"', '<html>'])(
    'an Anthropic stream with the invalid data %s gives one failure',
    (data) => {
      const events = decodeSse([{ data }, { data }, { data: '{"type":"message_stop"}' }])
      expectOrdered(events)
      expect(lastEvent(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
    },
  )

  test("an error that a proxy sends in an Anthropic stream fails the answer with the proxy's message", () => {
    const events = decodeSse([{ data: '{"error":{"message":"No route."}}' }])
    expect(lastEvent(events)).toMatchObject({ failure: { status: 502, message: 'No route.' } })
  })

  test('the Anthropic decoder emits no events after a failure', () => {
    const decoder = anthropic.createDecoder(accountOf())
    decoder.push({ data: '{"type":"error"}' })
    expect(decoder.push({ data: JSON.stringify(createAnswer(HI)[0]) })).toEqual([])
    expect(decoder.end()).toEqual([])
  })

  test('a non-streamed Anthropic answer with an error, or without content, is a failure', () => {
    const error = { type: 'api_error', message: 'Oops' }
    const events = anthropic.decodeBody({ type: 'error', error }, accountOf())
    expect(events).toMatchObject([{ type: 'answer-started' }, { failure: { message: 'Oops' } }])
    expect(anthropic.decodeBody({}, accountOf())).toMatchObject([{}, { type: 'answer-failed' }])
  })
})

test('the Anthropic decoder emits events in a valid order for arbitrary input, without an exception', () => {
  const value = fc.jsonValue({ maxDepth: 2 })
  const delta = fc.record({
    type: fc.constantFrom(
      'text_delta',
      'thinking_delta',
      'input_json_delta',
      'citations_delta',
      'x',
    ),
    text: fc.oneof(fc.string(), value),
    thinking: fc.oneof(fc.string(), value),
    partial_json: fc.oneof(fc.string(), value),
    citation: fc.oneof(
      fc.record({ type: fc.constantFrom('page_location', 'char_location'), document_index: value }),
      value,
    ),
  })
  const start = fc.record({
    type: fc.oneof(fc.constantFrom('text', 'thinking', 'tool_use', 'redacted_thinking'), value),
    text: value,
    id: value,
    name: value,
    input: value,
    citations: value,
  })
  const event = fc.record({
    type: fc.oneof(
      fc.constantFrom(
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'constructor',
      ),
      value,
    ),
    index: fc.oneof(fc.nat(2), value),
    content_block: fc.oneof(start, value),
    delta: fc.oneof(delta, value),
    message: value,
    usage: value,
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), fc.boolean(), (events, isStopped) => {
      const stop = isStopped ? [{ type: 'message_stop' }] : []
      expectOrdered(decode([...(events as JsonObject[]).filter(isObject), ...stop]))
    }),
    { numRuns: 300 },
  )
})
