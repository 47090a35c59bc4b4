/** Answers that break off or make no sense. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import {
  accountOf,
  answerOf,
  decoded,
  decodedSse,
  expectOrdered,
  itemsOf,
  textBlock,
} from './kit.ts'

const HI = textBlock('Hi', ' there')

function end(events: readonly StreamEvent[]): StreamEvent | undefined {
  return events.at(-1)
}

describe('an answer that fails', () => {
  const begun = [
    ...answerOf(HI).slice(0, 3),
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

  test("after a 200 tells the provider's words and keeps what had arrived", () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const events = decoded([...begun, { type: 'error', error, request_id: 'req_1' }])
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      expect.objectContaining({ status: 'incomplete', arguments: '{"a' }),
    ])
    expect(end(events)).toMatchObject({
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

  test('by ending without message_stop has not finished, however complete it looks', () => {
    const events = decoded(answerOf(HI).slice(0, -1))
    expectOrdered(events)
    expect(end(events)).toMatchObject({
      type: 'answer-failed',
      failure: { code: 'upstream_broken' },
    })
  })

  test('in the middle of a text keeps the text as incomplete', () => {
    const events = decoded(begun.slice(0, 3))
    expectOrdered(events)
    expect(itemsOf(events)).toMatchObject([{ status: 'incomplete', content: [{ text: 'Hi' }] }])
  })

  test('by sending nothing at all has failed', () => {
    const events = decoded([])
    expectOrdered(events)
    expect(end(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
  })

  test.each(['{"type":', 'null', '"text"', '<html>'])('by sending %s has failed once', (data) => {
    const events = decodedSse([{ data }, { data }, { data: '{"type":"message_stop"}' }])
    expectOrdered(events)
    expect(end(events)).toMatchObject({ failure: { code: 'upstream_broken' } })
  })

  test('in the words of a proxy is understood as well', () => {
    const events = decodedSse([{ data: '{"error":{"message":"No route."}}' }])
    expect(end(events)).toMatchObject({ failure: { status: 502, message: 'No route.' } })
  })

  test('says nothing more afterwards', () => {
    const decoder = anthropic.createDecoder(accountOf())
    decoder.push({ data: '{"type":"error"}' })
    expect(decoder.push({ data: JSON.stringify(answerOf(HI)[0]) })).toEqual([])
    expect(decoder.end()).toEqual([])
  })

  test('whole, with an error in it, has failed', () => {
    const error = { type: 'api_error', message: 'Oops' }
    const events = anthropic.decodeBody({ type: 'error', error }, accountOf())
    expect(events).toMatchObject([{ type: 'answer-started' }, { failure: { message: 'Oops' } }])
    expect(anthropic.decodeBody({}, accountOf())).toMatchObject([{}, { type: 'answer-failed' }])
  })
})

test('whatever arrives, the events are in order and nothing is thrown', () => {
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
      expectOrdered(decoded([...(events as JsonObject[]).filter(isObject), ...stop]))
    }),
    { numRuns: 300 },
  )
})
