/** Tests answers that break off or contain invalid data. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import {
  accountOf,
  createAnswer,
  decode,
  decodeSse,
  expectOrdered,
  itemsOf,
  textBlock,
} from './kit.ts'

const HI = textBlock('Hi', ' there')

function lastEvent(events: readonly StreamEvent[]): StreamEvent | undefined {
  return events.at(-1)
}

describe('Anthropic answers that fail', () => {
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

  test("an answer that fails after status 200 reports the provider's message and keeps the received items", () => {
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

  test('an answer without message_stop has failed, even if it looks complete', () => {
    const events = decode(createAnswer(HI).slice(0, -1))
    expectOrdered(events)
    expect(lastEvent(events)).toMatchObject({
      type: 'answer-failed',
      failure: { code: 'upstream_broken' },
    })
  })

  test('an answer that fails in the middle of a text keeps the text as incomplete', () => {
    const events = decode(startedAnswer.slice(0, 3))
    expectOrdered(events)
    expect(itemsOf(events)).toMatchObject([{ status: 'incomplete', content: [{ text: 'Hi' }] }])
  })

  test('an answer without any event has failed', () => {
    const events = decode([])
    expectOrdered(events)
    expect(lastEvent(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
  })

  test.each(['{"type":', 'null', '"text"', '<html>'])(
    'an answer with the data %s fails once',
    (data) => {
      const events = decodeSse([{ data }, { data }, { data: '{"type":"message_stop"}' }])
      expectOrdered(events)
      expect(lastEvent(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
    },
  )

  test('an answer with the error of a proxy reports its message', () => {
    const events = decodeSse([{ data: '{"error":{"message":"No route."}}' }])
    expect(lastEvent(events)).toMatchObject({ failure: { status: 502, message: 'No route.' } })
  })

  test('an answer emits nothing after a failure', () => {
    const decoder = anthropic.createDecoder(accountOf())
    decoder.push({ data: '{"type":"error"}' })
    expect(decoder.push({ data: JSON.stringify(createAnswer(HI)[0]) })).toEqual([])
    expect(decoder.end()).toEqual([])
  })

  test('a non-streamed answer with an error in the body has failed', () => {
    const error = { type: 'api_error', message: 'Oops' }
    const events = anthropic.decodeBody({ type: 'error', error }, accountOf())
    expect(events).toMatchObject([{ type: 'answer-started' }, { failure: { message: 'Oops' } }])
    expect(anthropic.decodeBody({}, accountOf())).toMatchObject([{}, { type: 'answer-failed' }])
  })
})

test('any input to the Anthropic decoder gives events in order and no exception', () => {
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
