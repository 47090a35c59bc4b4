/** Decodes Responses streams into events, including those of servers that deviate from the API. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { SseMessage } from '../../../../src/core/stream/sse.ts'
import { runStage } from '../../../../src/core/stream/stream-stage.ts'
import {
  decodeStream,
  decodeBody,
} from '../../../../src/providers/openai-responses/response/decode-stream.ts'
import { eventFaults } from '../event-order.ts'

const CREATED = { type: 'response.created', response: { id: 'resp_up', model: 'gpt-5-2025' } }
const COMPLETED = { type: 'response.completed', response: { status: 'completed' } }

function toSse(event: JsonObject): SseMessage {
  return { event: event['type'] as string, data: JSON.stringify(event) }
}

function decodeAll(...events: readonly JsonObject[]): readonly StreamEvent[] {
  const decoded = runStage(decodeStream(), events.map(toSse))
  expect(eventFaults(decoded)).toEqual([])
  return decoded
}

/** Decodes the events between the first and the last one of an answer. */
function decode(...events: readonly JsonObject[]): readonly StreamEvent[] {
  return decodeAll(CREATED, ...events, COMPLETED).slice(1, -1)
}

function itemsIn(events: readonly StreamEvent[]): readonly Item[] {
  return events.flatMap((event) => (event.type === 'item-ended' ? [event.item] : []))
}

function added(item: JsonObject, output_index = 0): JsonObject {
  return { type: 'response.output_item.added', output_index, item }
}

function done(item: JsonObject, output_index = 0): JsonObject {
  return { type: 'response.output_item.done', output_index, item }
}

function textDelta(delta: string, more: JsonObject = {}): JsonObject {
  return { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta, ...more }
}

const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'in_progress',
  content: [],
}
const finished = (text: string, more: JsonObject = {}) => ({
  ...MESSAGE,
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
})
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '' }

describe("messages in an upstream's Responses stream", () => {
  test("a message in an upstream's Responses stream is decoded into its deltas and its final item", () => {
    const final = finished('Hello', { phase: 'final_answer', future: 1 })
    expect(decode(added(MESSAGE), textDelta('Hel'), textDelta('lo'), done(final))).toEqual([
      { type: 'item-started', index: 0, item: MESSAGE },
      { type: 'text-delta', index: 0, part: 0, text: 'Hel' },
      { type: 'text-delta', index: 0, part: 0, text: 'lo' },
      { type: 'item-ended', index: 0, item: final },
    ])
  })

  test("text that the deltas of an upstream's Responses stream lack is emitted as soon as the full text arrives", () => {
    const decoder = decodeStream()
    for (const event of [CREATED, added(MESSAGE), textDelta('He')]) decoder.push(toSse(event))
    const textDone = { type: 'response.output_text.done', output_index: 0, content_index: 0 }
    expect(decoder.push(toSse({ ...textDone, text: 'Hello' }))).toEqual([
      { type: 'text-delta', index: 0, part: 0, text: 'llo' },
    ])
    expect(decoder.push(toSse(done(finished('Hello!'))))).toEqual([
      { type: 'text-delta', index: 0, part: 0, text: '!' },
      { type: 'item-ended', index: 0, item: finished('Hello!') },
    ])
  })

  test("an upstream's Responses message whose final text differs from its deltas ends with the final text", () => {
    const events = runStage(
      decodeStream(),
      [CREATED, added(MESSAGE), textDelta('Hallo'), done(finished('Hello')), COMPLETED].map(toSse),
    )
    expect(itemsIn(events)).toEqual([finished('Hello')])
    expect(events.filter(({ type }) => type === 'text-delta')).toHaveLength(1)
  })

  test("the refusals, annotations and log probabilities of an upstream's Responses stream are decoded", () => {
    const annotation = { type: 'url_citation', url: 'https://a.example/' }
    const more = { type: 'url_citation', url: 'https://b.example/' }
    const logprobs = [{ token: 'a', logprob: -1 }]
    const content = [
      { type: 'output_text', text: 'a', annotations: [annotation, more] },
      { type: 'refusal', refusal: 'no' },
    ]
    const events = decode(
      added(MESSAGE),
      textDelta('a', { logprobs }),
      {
        type: 'response.output_text.annotation.added',
        output_index: 0,
        content_index: 0,
        annotation,
      },
      { type: 'response.refusal.delta', output_index: 0, content_index: 1, delta: 'no' },
      done({ ...MESSAGE, content }),
    )
    expect(events.slice(1, -1)).toEqual([
      { type: 'text-delta', index: 0, part: 0, text: 'a', logprobs },
      { type: 'annotation-added', index: 0, part: 0, annotation },
      { type: 'refusal-delta', index: 0, part: 1, text: 'no' },
      { type: 'annotation-added', index: 0, part: 0, annotation: more },
    ])
  })

  test("an upstream's Responses message keeps the id of its first event", () => {
    // Copilot sends another id in every event.
    const events = decode(
      added(MESSAGE),
      textDelta('a', { item_id: 'msg_2' }),
      done(finished('a', { id: 'msg_3' })),
    )
    expect(itemsIn(events)).toEqual([finished('a', { id: 'msg_1' })])
  })

  test("an upstream's Responses message starts with its first delta if the upstream omits `output_item.added`", () => {
    const [started, delta] = decode(textDelta('a'))
    expect(started).toMatchObject({ type: 'item-started', item: { type: 'message' } })
    expect(delta).toMatchObject({ type: 'text-delta', text: 'a' })
    expect(itemsIn(decode(done(finished('a'))))).toEqual([finished('a')])
  })

  test("an upstream's Responses message keeps a part of unknown type as an opaque part", () => {
    const content = [{ type: 'output_video', url: 'x' }, 'bare', 7]
    expect(itemsIn(decode(done({ ...MESSAGE, content })))).toMatchObject([
      {
        content: [
          { type: 'opaque', raw: content[0] },
          { type: 'output_text', text: 'bare' },
        ],
      },
    ])
  })
})

describe("reasoning in an upstream's Responses stream", () => {
  const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'partial' }
  const position = { output_index: 0, content_index: 0 }

  test("reasoning in an upstream's Responses stream gives summary and content deltas, and encrypted content only at the end", () => {
    const final = {
      ...REASONING,
      summary: [{ type: 'summary_text', text: 's' }],
      content: [{ type: 'reasoning_text', text: 'raw' }],
      encrypted_content: 'sealed',
    }
    expect(
      decode(
        added(REASONING),
        {
          type: 'response.reasoning_summary_text.delta',
          output_index: 0,
          summary_index: 0,
          delta: 's',
        },
        { type: 'response.reasoning_text.delta', ...position, delta: 'raw' },
        done(final),
      ),
    ).toEqual([
      { type: 'item-started', index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
      { type: 'reasoning-delta', index: 0, channel: 'summary', part: 0, text: 's' },
      { type: 'reasoning-delta', index: 0, channel: 'content', part: 0, text: 'raw' },
      { type: 'item-ended', index: 0, item: final },
    ])
  })

  test("reasoning in an upstream's Responses stream is read from events with either of two names", () => {
    const [, delta] = decode(added(REASONING), {
      type: 'response.reasoning.delta',
      ...position,
      delta: 'raw',
    })
    expect(delta).toEqual({
      type: 'reasoning-delta',
      index: 0,
      channel: 'content',
      part: 0,
      text: 'raw',
    })
  })

  test("reasoning in an upstream's Responses stream may continue after the message has started", () => {
    const events = decode(
      added(REASONING),
      added(MESSAGE, 1),
      textDelta('4', { output_index: 1 }),
      { type: 'response.reasoning_text.delta', ...position, delta: 'hm' },
      done(finished('4'), 1),
      done({ ...REASONING, content: [{ type: 'reasoning_text', text: 'hm' }] }),
    )
    expect(events.map((event) => 'index' in event && event.index)).toEqual([0, 1, 1, 0, 1, 0])
  })

  test.each([null, 'text', [{ text: 7 }, 'thought', null]])(
    "reasoning in an upstream's Responses stream with the invalid summary %j is corrected",
    (summary) => {
      const [item] = itemsIn(decode(done({ type: 'reasoning', summary, content: null })))
      expect(item).toMatchObject({ type: 'reasoning' })
      expect(item).not.toHaveProperty('content')
    },
  )
})

describe("tool calls in an upstream's Responses stream", () => {
  const final = { ...CALL, arguments: '{"a":1}' }

  test("the argument deltas of a tool call in an upstream's Responses stream are decoded one by one", () => {
    const delta = { type: 'response.function_call_arguments.delta', output_index: 0 }
    expect(
      decode(added(CALL), { ...delta, delta: '{"a"' }, { ...delta, delta: ':1}' }, done(final)),
    ).toEqual([
      { type: 'item-started', index: 0, item: CALL },
      { type: 'arguments-delta', index: 0, text: '{"a"' },
      { type: 'arguments-delta', index: 0, text: ':1}' },
      { type: 'item-ended', index: 0, item: final },
    ])
  })

  test.each([
    [added(final), done(final)],
    [
      added(CALL),
      {
        type: 'response.function_call_arguments.done',
        output_index: 0,
        arguments: final.arguments,
      },
      done(final),
    ],
    [done(final)],
  ])(
    "tool call arguments that an upstream's Responses stream contains without deltas are emitted once",
    (...events) => {
      expect(decode(...events)).toEqual([
        { type: 'item-started', index: 0, item: CALL },
        { type: 'arguments-delta', index: 0, text: '{"a":1}' },
        { type: 'item-ended', index: 0, item: final },
      ])
    },
  )

  test("the input deltas of a custom tool call in an upstream's Responses stream are decoded one by one", () => {
    const custom = { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' }
    const delta = { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'ls' }
    expect(decode(added(custom), delta, done({ ...custom, input: 'ls' }))[1]).toEqual({
      type: 'arguments-delta',
      index: 0,
      text: 'ls',
    })
  })

  test("a tool call without a call_id in an upstream's Responses stream gets a call_id that is the same in all its events", () => {
    const nameless = { type: 'function_call', name: 'f', arguments: { a: 1 } }
    const [started, , ended] = decode(added(nameless, 3), done(nameless, 3))
    expect(started).toMatchObject({ item: { call_id: 'call_resp_up_3' } })
    expect(ended).toMatchObject({ item: { call_id: 'call_resp_up_3', arguments: '{"a":1}' } })
  })
})

test("the item of a hosted tool in an upstream's Responses stream stays unchanged", () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }
  expect(
    decode(
      added({ ...search, status: 'in_progress' }),
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      done(search),
    ),
  ).toMatchObject([
    { type: 'item-started', item: { type: 'opaque', raw: { status: 'in_progress' } } },
    { type: 'item-ended', item: { type: 'opaque', raw: search } },
  ])
})

describe("the start of an upstream's Responses answer", () => {
  test("the start event of an upstream's Responses answer has the upstream's id and model", () => {
    expect(decodeAll(CREATED, COMPLETED)[0]).toEqual({
      type: 'answer-started',
      upstreamId: 'resp_up',
      model: 'gpt-5-2025',
    })
  })

  test("an upstream's Responses stream may begin with a `queued` event", () => {
    const queued = { ...CREATED, type: 'response.queued' }
    const running = { ...CREATED, type: 'response.in_progress' }
    expect(decodeAll(queued, running, COMPLETED).map(({ type }) => type)).toEqual([
      'answer-started',
      'answer-ended',
    ])
  })
})

describe("the end of an upstream's Responses answer", () => {
  function ending(response: JsonObject, type = 'response.completed'): StreamEvent | undefined {
    return decodeAll(CREATED, { type, response }).at(-1)
  }

  test("the terminal event of an upstream's Responses answer has the usage, with null for missing counts", () => {
    const usage = {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 10,
      total_tokens: 30,
      cost: 0.1,
    }
    expect(ending({ usage })).toEqual({
      type: 'answer-ended',
      finish: 'stop',
      usage: {
        inputTokens: 20,
        cachedTokens: 4,
        cacheWriteTokens: null,
        outputTokens: 10,
        reasoningTokens: null,
        totalTokens: 30,
      },
    })
  })

  test.each([
    ['response.incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    ['response.incomplete', { incomplete_details: { reason: 'content_filter' } }, 'content-filter'],
    ['response.incomplete', {}, 'length'],
    ['response.completed', { status: 'incomplete' }, 'length'],
    ['response.completed', {}, 'stop'],
  ])('the upstream event %s with %j gives the finish reason %s', (type, response, finish) => {
    expect(ending(response, type)).toMatchObject({ type: 'answer-ended', finish })
  })

  test('the final response of an upstream adds items that did not end or did not appear in the Responses stream', () => {
    const events = decodeAll(CREATED, added(MESSAGE), textDelta('a'), {
      type: 'response.completed',
      response: { output: [finished('ab'), { ...CALL, arguments: '{}' }] },
    })
    expect(itemsIn(events)).toEqual([finished('ab'), { ...CALL, arguments: '{}' }])
  })

  test("a final response with a shorter list of items does not mix up the items of an upstream's Responses stream", () => {
    const search = { type: 'web_search_call', id: 'ws_1' }
    const events = decodeAll(
      CREATED,
      added(search, 0),
      added(MESSAGE, 1),
      textDelta('a', { output_index: 1 }),
      done(finished('a'), 1),
      { type: 'response.completed', response: { output: [finished('a')] } },
    )
    expect(itemsIn(events)).toMatchObject([finished('a'), { type: 'opaque' }])
  })

  test("an upstream's final response without a list of items ends the open items with the received text", () => {
    const events = decodeAll(CREATED, added(MESSAGE), textDelta('a'), {
      type: 'response.completed',
      response: { output: null },
    })
    expect(itemsIn(events)).toEqual([finished('a')])
  })

  test('the final response of an upstream does not change finished items of its Responses stream', () => {
    const events = decodeAll(CREATED, added(MESSAGE), textDelta('a'), done(finished('a')), {
      type: 'response.completed',
      response: { output: [finished('b')] },
    })
    expect(itemsIn(events)).toEqual([finished('a')])
  })

  test('the Responses decoder emits no event after the terminal event', () => {
    const decoder = decodeStream()
    decoder.push(toSse(COMPLETED))
    expect(decoder.push(toSse(added(MESSAGE)))).toEqual([])
    expect(decoder.end()).toEqual([])
  })
})

describe("failures in an upstream's Responses stream", () => {
  const ERROR = {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'Pay.',
    param: null,
  }

  test.each([
    [{ type: 'error', error: ERROR }],
    [{ type: 'error', code: ERROR.code, message: ERROR.message, param: null }],
  ])('the upstream events `error` and `response.failed` give one failure', (error) => {
    const failed = {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message: 'Less.' } },
    }
    const events = decodeAll(CREATED, error, failed)
    expect(events.slice(1)).toMatchObject([
      {
        type: 'answer-failed',
        failure: { status: 429, code: 'insufficient_quota', message: 'Pay.' },
      },
    ])
  })

  test("the event `response.failed` alone fails an upstream's Responses answer", () => {
    const error = { code: 'context_length_exceeded', message: 'Too long.' }
    expect(
      decodeAll(CREATED, { type: 'response.failed', response: { error } }).at(-1),
    ).toMatchObject({
      failure: { status: 400, code: 'context_length_exceeded', message: 'Too long.' },
    })
  })

  test("the event `error` alone fails an upstream's Responses answer", () => {
    expect(decodeAll({ type: 'error', error: ERROR })).toMatchObject([
      { type: 'answer-started', upstreamId: null, model: null },
      { type: 'answer-failed', failure: { code: 'insufficient_quota' } },
    ])
  })

  test("an upstream's Responses stream without a final event is a failure, even if every item has ended", () => {
    const events = decodeAll(CREATED, added(MESSAGE), textDelta('a'), done(finished('a')))
    expect(itemsIn(events)).toEqual([finished('a')])
    expect(events.at(-1)).toMatchObject({
      type: 'answer-failed',
      failure: { status: 502, type: 'server_error', code: 'upstream_broken' },
    })
  })

  test("an upstream's failed Responses answer keeps the received items and marks them as incomplete", () => {
    const events = decodeAll(
      CREATED,
      added({ type: 'reasoning', id: 'rs_1', summary: [] }, 0),
      {
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        summary_index: 0,
        delta: 'h',
      },
      added(MESSAGE, 1),
      textDelta('a', { output_index: 1 }),
      added(CALL, 2),
      { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"a' },
    )
    expect(itemsIn(events)).toMatchObject([
      { type: 'reasoning', status: 'incomplete', summary: [{ text: 'h' }] },
      { type: 'message', status: 'incomplete', content: [{ text: 'a' }] },
      { type: 'function_call', status: 'incomplete', arguments: '{"a' },
    ])
  })

  test.each(
    ['response.completed', 'response.incomplete', 'response.failed'].flatMap((type) => [
      { type },
      { type, response: 5 },
      { type, response: [{ status: 'completed' }] },
    ]),
  )('the final event of an upstream without a response is a failure: %j', (end) => {
    const events = decodeAll(CREATED, added(MESSAGE), textDelta('a'), end)
    expect(itemsIn(events)).toMatchObject([{ status: 'incomplete', content: [{ text: 'a' }] }])
    expect(events.at(-1)).toMatchObject({
      type: 'answer-failed',
      failure: { status: 502, code: 'upstream_broken' },
    })
  })

  test("an upstream's Responses stream with an event that is not JSON is a failure", () => {
    const decoder = decodeStream()
    expect(decoder.push({ data: '{"type":"respon' }).at(-1)).toMatchObject({
      type: 'answer-failed',
      failure: { code: 'upstream_broken' },
    })
  })
})

describe("unusual and invalid events in an upstream's Responses stream", () => {
  test("the event name of an upstream's Responses stream may be only in the SSE field or only in the data", () => {
    const { type: _type, ...nameless } = added(MESSAGE)
    const events = runStage(decodeStream(), [
      { event: 'response.output_item.added', data: JSON.stringify(nameless) },
      { data: JSON.stringify(textDelta('a')) },
      { data: JSON.stringify(COMPLETED) },
      { data: '[DONE]' },
    ])
    expect(events.map(({ type }) => type)).toEqual([
      'answer-started',
      'item-started',
      'text-delta',
      'item-ended',
      'answer-ended',
    ])
  })

  test("unknown events and fields in an upstream's Responses stream are ignored", () => {
    const unknown = ['keepalive', 'response.reasoning_part.added', 'constructor', '__proto__', '']
    expect(decode(...unknown.map((type) => ({ type })))).toEqual([])
  })

  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(0, 1, 'a', 'message', 'reasoning', 'function_call', [MESSAGE], MESSAGE, CALL),
  )
  const event = fc.record(
    {
      type: fc.constantFrom(
        'response.created',
        'response.output_item.added',
        'response.output_item.done',
        'response.content_part.done',
        'response.output_text.delta',
        'response.output_text.done',
        'response.output_text.annotation.added',
        'response.refusal.delta',
        'response.reasoning_summary_text.delta',
        'response.reasoning_text.done',
        'response.function_call_arguments.delta',
        'response.custom_tool_call_input.done',
        'response.incomplete',
        'response.completed',
        'error',
      ),
      item: value,
      part: value,
      output_index: value,
      content_index: value,
      summary_index: value,
      annotation: value,
      delta: value,
      text: value,
      arguments: value,
      response: value,
      error: value,
      logprobs: value,
    },
    { requiredKeys: ['type'] },
  ) as fc.Arbitrary<JsonObject>

  test("an upstream's Responses stream with arbitrary content gives events in a valid order", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const faults = eventFaults(runStage(decodeStream(), events.map(toSse)))
        expect(faults.filter((fault) => !fault.includes('sum of its deltas'))).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  test("an upstream's non-streamed Responses answer with arbitrary content gives events in a valid order", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('output', 'status', 'error', 'id'), value),
        (body) => {
          expect(eventFaults(decodeBody(body as JsonObject))).toEqual([])
        },
      ),
    )
  })
})

describe("upstreams' non-streamed Responses answers", () => {
  test("an upstream's non-streamed Responses answer gives the same items as its stream", () => {
    const call = { ...CALL, arguments: '{}' }
    const body = {
      id: 'resp_up',
      model: 'm',
      status: 'completed',
      output: [finished('a'), call],
    }
    expect(decodeBody(body)).toEqual([
      { type: 'answer-started', upstreamId: 'resp_up', model: 'm' },
      { type: 'item-started', index: 0, item: { ...MESSAGE, status: 'completed' } },
      { type: 'text-delta', index: 0, part: 0, text: 'a' },
      { type: 'item-ended', index: 0, item: finished('a') },
      { type: 'item-started', index: 1, item: CALL },
      { type: 'arguments-delta', index: 1, text: '{}' },
      { type: 'item-ended', index: 1, item: call },
      { type: 'answer-ended', finish: 'stop', usage: null },
    ])
  })

  test.each([
    [{ status: 'failed', error: { code: 'server_error', message: 'x' } }, 'server_error'],
    [{ error: { code: 429, message: 'x' } }, '429'],
    [{ status: 'cancelled', output: [] }, 'upstream_broken'],
    [{ status: 'in_progress', output: [] }, 'upstream_broken'],
  ])('the non-streamed Responses answer %j is a failure with the code %s', (body, code) => {
    expect(decodeBody(body).at(-1)).toMatchObject({ type: 'answer-failed', failure: { code } })
  })
})

describe("encrypted reasoning at the end of an upstream's Responses stream", () => {
  const REASONING = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
  }
  const SEALED = { ...REASONING, id: 'rs_other', encrypted_content: 'gAAAA' }
  const complete = (...output: readonly JsonObject[]) => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output },
  })
  const stream = [
    CREATED,
    added({ ...REASONING, summary: [] }),
    done(REASONING),
    added(MESSAGE, 1),
    done(finished('So.'), 1),
  ]
  const amended = {
    type: 'item-amended',
    index: 0,
    item: { ...REASONING, encrypted_content: 'gAAAA' },
  }

  test.each([
    ['the complete output', complete(SEALED, finished('So.')), [amended]],
    // Some servers leave items out, so that indexes change.
    ['an output without the message', complete(SEALED), [amended]],
    ['an output without encrypted content', complete(REASONING, finished('So.')), []],
    ['an output without reasoning', complete(finished('So.')), []],
    [
      'an output with more reasoning',
      complete(SEALED, { ...SEALED, id: 'rs_2' }, finished('So.')),
      [],
    ],
  ])('an ended item gets the encrypted content of %s', (_, end, expected) => {
    const events = decodeAll(...stream, end)
    expect(events.filter(({ type }) => type === 'item-amended')).toEqual(expected)
    expect(events.at(-1)).toMatchObject({ type: 'answer-ended' })
  })

  test('encrypted content that came with the end of its item stays', () => {
    const own = { ...REASONING, encrypted_content: 'own' }
    const events = decodeAll(CREATED, added(REASONING), done(own), complete(SEALED))
    expect(events.filter(({ type }) => type === 'item-amended')).toEqual([])
  })
})

test("an annotation of an upstream's Responses stream is emitted after the first text of its part", () => {
  const annotation = { type: 'url_citation', url: 'https://a.example/' }
  const cited = {
    type: 'response.output_text.annotation.added',
    output_index: 0,
    content_index: 0,
    annotation_index: 0,
    annotation,
  }
  const content = [{ type: 'output_text', text: 'a', annotations: [annotation] }]
  const cites = { type: 'annotation-added', index: 0, part: 0, annotation }
  const delta = (text: string) => ({ type: 'text-delta', index: 0, part: 0, text })
  expect(decode(added(MESSAGE), cited, textDelta('a'), done(finished('a', { content })))).toEqual([
    { type: 'item-started', index: 0, item: MESSAGE },
    delta('a'),
    cites,
    { type: 'item-ended', index: 0, item: finished('a', { content }) },
  ])
  // A part without text keeps its annotations.
  expect(decode(added(MESSAGE), cited).slice(1)).toMatchObject([
    cites,
    { type: 'item-ended', item: { content: [{ text: '', annotations: [annotation] }] } },
  ])
})
