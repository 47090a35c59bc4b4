import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { Item } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import {
  answeringTo,
  ASK,
  ENDED_AT_MS,
  jsonOf,
  lastResponse,
  outcomeOf,
  renderEvents,
  TURN_ID,
} from '../../../support/responses-kit.ts'

const BEGIN: StreamEvent = { type: 'answer-started', upstreamId: 'up_1', model: 'gpt-5-2025' }
const END: StreamEvent = { type: 'answer-ended', finish: 'stop', usage: null }

function itemEvents(...events: readonly StreamEvent[]): readonly JsonObject[] {
  return renderEvents([BEGIN, ...events, END])
    .map(({ data }) => data)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as JsonObject)
    .filter((event) => !('response' in event))
}

function typesOf(events: readonly StreamEvent[], context = answeringTo()): readonly unknown[] {
  return renderEvents(events, context).map(
    ({ event }) => event?.replace('response.', '') ?? '[DONE]',
  )
}

function message(text: string, more: Partial<Item> = {}): Item {
  const content = [{ type: 'output_text', text }] as const
  return { type: 'message', role: 'assistant', content, ...more } as Item
}

const textDelta = (text: string): StreamEvent => ({ type: 'text-delta', index: 0, part: 0, text })

const STARTED: StreamEvent = {
  type: 'item-started',
  index: 0,
  item: { type: 'message', role: 'assistant', content: [] },
}

describe('messages in a rendered Responses stream', () => {
  test('a message is rendered with the same Responses events as in a stream of OpenAI', () => {
    const id = `msg_${TURN_ID}0`
    const at = { item_id: id, output_index: 0, content_index: 0 }
    const part = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }
    const item = { type: 'message', role: 'assistant', id }
    expect(
      itemEvents(STARTED, textDelta('Hel'), textDelta('lo'), {
        type: 'item-ended',
        index: 0,
        item: message('Hello'),
      }),
    ).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, content: [], status: 'in_progress' },
        sequence_number: 2,
      },
      {
        type: 'response.content_part.added',
        ...at,
        part: { ...part, text: '' },
        sequence_number: 3,
      },
      {
        type: 'response.output_text.delta',
        ...at,
        delta: 'Hel',
        logprobs: [],
        sequence_number: 4,
      },
      { type: 'response.output_text.delta', ...at, delta: 'lo', logprobs: [], sequence_number: 5 },
      {
        type: 'response.output_text.done',
        ...at,
        text: 'Hello',
        logprobs: [],
        sequence_number: 6,
      },
      { type: 'response.content_part.done', ...at, part, sequence_number: 7 },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, content: [part], status: 'completed' },
        sequence_number: 8,
      },
    ])
  })

  test('each decoded text delta becomes one event of the rendered Responses stream', () => {
    const renderer = responsesDialect.createRenderer(answeringTo())
    for (const event of [BEGIN, STARTED, textDelta('a')]) renderer.push(event)
    expect(renderer.push(textDelta('"\n'))).toEqual([
      {
        event: 'response.output_text.delta',
        data: `{"type":"response.output_text.delta","item_id":"msg_${TURN_ID}0","output_index":0,"content_index":0,"delta":"\\"\\n","logprobs":[],"sequence_number":5}`,
      },
    ])
    expect(renderer.push(textDelta(''))).toEqual([])
  })

  test('a message without deltas is written completely to the rendered Responses stream when it ends', () => {
    const types = typesOf([BEGIN, { type: 'item-ended', index: 0, item: message('Hello') }, END])
    expect(types.slice(2, -2)).toEqual([
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ])
  })

  test('a message in a rendered Responses stream keeps its unknown fields and its `phase`', () => {
    const item = message('', { id: 'msg_up', phase: 'commentary', future: 1 } as Partial<Item>)
    const done = itemEvents({ type: 'item-ended', index: 0, item }).at(-1)
    expect(done?.['item']).toMatchObject({ id: 'msg_up', phase: 'commentary', future: 1 })
  })

  test('a rendered Responses stream has one event for each annotation, and the finished message contains all of them', () => {
    const annotation = { type: 'url_citation', url: 'https://a.example/' }
    const more = { type: 'url_citation', url: 'https://b.example/' }
    const content = [{ type: 'output_text', text: 'a', annotations: [annotation, more] }] as const
    const events = itemEvents(
      STARTED,
      textDelta('a'),
      { type: 'annotation-added', index: 0, part: 0, annotation },
      { type: 'item-ended', index: 0, item: { type: 'message', role: 'assistant', content } },
    )
    expect(
      events
        .filter(({ type }) => type === 'response.output_text.annotation.added')
        .map((event) => [event['annotation_index'], event['annotation']]),
    ).toEqual([
      [0, annotation],
      [1, more],
    ])
    expect(events.at(-1)).toMatchObject({
      item: { content: [{ annotations: [annotation, more] }] },
    })
  })

  test('the text deltas of a rendered Responses stream contain the log probabilities of their tokens', () => {
    const logprobs = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }]
    const events = itemEvents(
      STARTED,
      { type: 'text-delta', index: 0, part: 0, text: 'a', logprobs },
      { type: 'item-ended', index: 0, item: message('a') },
    )
    expect(events.filter((event) => 'logprobs' in event).map((event) => event['logprobs'])).toEqual(
      [logprobs, logprobs],
    )
  })

  test('a part of a message in a rendered Responses stream ends when the next part starts', () => {
    const content = [
      { type: 'output_text', text: 'a' },
      { type: 'refusal', refusal: 'no' },
    ] as const
    const types = itemEvents(
      STARTED,
      textDelta('a'),
      { type: 'refusal-delta', index: 0, part: 1, text: 'no' },
      { type: 'item-ended', index: 0, item: { type: 'message', role: 'assistant', content } },
    ).map(({ type }) => (type as string).replace('response.', ''))
    expect(types).toEqual([
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
    ])
  })
})

describe('reasoning in a rendered Responses stream', () => {
  const item: Item = {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'short' }],
    content: [{ type: 'reasoning_text', text: 'long' }],
    encrypted_content: 'sealed',
  }
  const reasoningEvents: readonly StreamEvent[] = [
    BEGIN,
    { type: 'item-started', index: 0, item: { type: 'reasoning', summary: [] } },
    { type: 'reasoning-delta', index: 0, channel: 'summary', part: 0, text: 'short' },
    { type: 'reasoning-delta', index: 0, channel: 'content', part: 0, text: 'long' },
    { type: 'item-ended', index: 0, item },
    END,
  ]
  const withInclude = (...include: string[]) => answeringTo({ ...ASK, include })

  test.each([{}, { reasoning: { summary: null } }, { reasoning: { summary: 'none' } }])(
    'a reasoning summary that the client does not request with %j is left out, and raw reasoning is rendered as a summary',
    (fields) => {
      const context = answeringTo({ model: 'gpt-5', input: 'go', ...fields })
      const messages = renderEvents(reasoningEvents, context)
      expect(responsesFaults(messages)).toEqual([])
      expect(typesOf(reasoningEvents, context).slice(3, -3)).toEqual([
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
      ])
      const output = [{ id: `rs_${TURN_ID}0`, type: 'reasoning', summary: [LONG] }]
      expect(lastResponse(messages)['output']).toEqual(output)
      const body = responsesDialect.renderBody(outcomeOf(reasoningEvents), context)
      expect(body['output']).toEqual(output)
    },
  )
  const LONG = { type: 'summary_text', text: 'long' }

  test.each([{ isOpenWebUi: true }, { receivesMarkers: true }])(
    'a client that keeps only text (%j) receives reasoning summaries without a request for them',
    (traits) => {
      const context = answeringTo({ model: 'gpt-5', input: 'go' })
      const { clientRequest } = context
      const client = { ...clientRequest.client, ...traits }
      const asTextClient = { ...context, clientRequest: { ...clientRequest, client } }
      expect(JSON.stringify(renderEvents(reasoningEvents, asTextClient))).toContain('short')
    },
  )

  test('raw reasoning and requested reasoning summaries are both rendered as a summary in a Responses stream by default', () => {
    expect(typesOf(reasoningEvents).slice(3, -3)).toEqual([
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
    ])
    expect(lastResponse(renderEvents(reasoningEvents))['output']).toEqual([
      {
        type: 'reasoning',
        id: `rs_${TURN_ID}0`,
        summary: [
          { type: 'summary_text', text: 'short' },
          { type: 'summary_text', text: 'long' },
        ],
      },
    ])
  })

  test('raw reasoning is rendered as `reasoning_text` in a Responses stream if the client requests `reasoning.raw`', () => {
    const context = withInclude('reasoning.raw')
    expect(typesOf(reasoningEvents, context)).toContain('reasoning_text.delta')
    expect(lastResponse(renderEvents(reasoningEvents, context))['output']).toMatchObject([
      { summary: [{ text: 'short' }], content: [{ type: 'reasoning_text', text: 'long' }] },
    ])
  })

  test('a rendered Responses stream contains encrypted reasoning only if the client requests it or the answer is not stored', () => {
    const hasEncrypted = (context = answeringTo()) =>
      JSON.stringify(renderEvents(reasoningEvents, context)).includes('sealed')
    expect(hasEncrypted()).toBe(false)
    expect(hasEncrypted(withInclude('reasoning.encrypted_content'))).toBe(true)
    expect(hasEncrypted(answeringTo(ASK, { isStored: false }))).toBe(true)
  })
})

describe('tool calls in a rendered Responses stream', () => {
  test('a function call in a rendered Responses stream starts with its name, and its arguments follow in deltas', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', id: 'fc_up' } as const
    const events = itemEvents(
      { type: 'item-started', index: 0, item: { ...call, arguments: '' } },
      { type: 'arguments-delta', index: 0, text: '{}' },
      { type: 'item-ended', index: 0, item: { ...call, arguments: '{}' } },
    )
    const at = { item_id: 'fc_up', output_index: 0 }
    expect(events.map(({ sequence_number: _number, ...event }) => event)).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...call, arguments: '', status: 'in_progress' },
      },
      { type: 'response.function_call_arguments.delta', ...at, delta: '{}' },
      { type: 'response.function_call_arguments.done', ...at, name: 'f', arguments: '{}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...call, arguments: '{}', status: 'completed' },
      },
    ])
  })

  test('the input of a custom tool call is rendered as deltas in a Responses stream', () => {
    const call = { type: 'custom_tool_call', call_id: 'c1', name: 'f' } as const
    const types = typesOf([
      BEGIN,
      { type: 'item-started', index: 0, item: { ...call, input: '' } },
      { type: 'arguments-delta', index: 0, text: 'ls' },
      { type: 'item-ended', index: 0, item: { ...call, input: 'ls' } },
      END,
    ])
    expect(types).toContain('custom_tool_call_input.delta')
    expect(types).toContain('custom_tool_call_input.done')
  })

  test('a function call without arguments still gets the event for the end of its arguments in a rendered Responses stream', () => {
    const item: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
    expect(typesOf([BEGIN, { type: 'item-ended', index: 0, item }, END]).slice(2, -2)).toEqual([
      'output_item.added',
      'function_call_arguments.done',
      'output_item.done',
    ])
  })
})

test('an item of an unknown type is written unchanged to a rendered Responses stream', () => {
  const raw = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search' },
  }
  const item: Item = { type: 'opaque', raw }
  const events = itemEvents(
    { type: 'item-started', index: 0, item },
    { type: 'item-ended', index: 0, item },
  )
  expect(events.map((event) => [event['type'], event['item']])).toEqual([
    ['response.output_item.added', raw],
    ['response.output_item.done', raw],
  ])
})

test('a tool output in a rendered Responses stream is always a list of parts', () => {
  const item: Item = { type: 'function_call_output', call_id: 'c', output: '4 degrees' }
  const done = itemEvents({ type: 'item-ended', index: 0, item }).at(-1)
  expect(done?.['item']).toMatchObject({ output: [{ type: 'input_text', text: '4 degrees' }] })
})

describe('the ids of items in a Responses stream', () => {
  test("items in a rendered Responses stream keep the upstream's ids, unless two items have the same id", () => {
    const events = itemEvents(
      { type: 'item-ended', index: 0, item: message('a', { id: 'msg_x' }) },
      { type: 'item-ended', index: 1, item: message('b', { id: 'msg_x' }) },
      { type: 'item-ended', index: 2, item: message('c', { id: '' }) },
    )
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => (item as JsonObject)['id'])).toEqual([
      'msg_x',
      `msg_${TURN_ID}1`,
      `msg_${TURN_ID}2`,
    ])
  })

  test('an item in a rendered Responses stream keeps the id of its start if the upstream sends another id at its end', () => {
    const events = itemEvents(
      { type: 'item-started', index: 0, item: message('', { id: 'msg_first' }) },
      { type: 'item-ended', index: 0, item: message('a', { id: 'msg_second' }) },
    )
    expect(JSON.stringify(events)).not.toContain('msg_second')
  })
})

describe('the ending of a rendered Responses stream', () => {
  const answered: readonly StreamEvent[] = [
    BEGIN,
    STARTED,
    textDelta('a'),
    { type: 'item-ended', index: 0, item: message('a', { status: 'completed' }) },
  ]

  test('a rendered Responses stream ends with a response object that contains all items', () => {
    const usage = {
      inputTokens: 20,
      cachedTokens: 4,
      cacheWriteTokens: null,
      outputTokens: 10,
      reasoningTokens: 3,
      totalTokens: 30,
    }
    const messages = renderEvents([...answered, { type: 'answer-ended', finish: 'stop', usage }])
    expect(messages.at(-1)).toEqual({ data: '[DONE]' })
    expect(lastResponse(messages)).toMatchObject({
      id: `resp_${TURN_ID}`,
      status: 'completed',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_002,
      model: 'gpt-5-2025',
      output: [{ type: 'message', status: 'completed', content: [{ text: 'a' }] }],
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 30,
      },
    })
  })

  test.each([
    ['length', 'max_output_tokens'],
    ['content-filter', 'content_filter'],
  ] as const)(
    'an answer with the finish reason %s is rendered as an incomplete response with an incomplete last item',
    (finish, reason) => {
      expect(
        lastResponse(
          renderEvents([...answered, { type: 'answer-ended', finish: finish, usage: null }]),
        ),
      ).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason },
        completed_at: null,
        output: [{ status: 'incomplete' }],
      })
    },
  )

  test('the ending of a rendered Responses stream that failed contains the text so far, and the error both at the top level and under `error`', () => {
    const failure = createFailure('upstream_timeout', 'Too slow.')
    const messages = renderEvents([
      BEGIN,
      STARTED,
      textDelta('a'),
      { type: 'answer-failed', failure },
    ])
    const [error, failed, done] = messages.slice(-3)
    expect(error === undefined ? null : jsonOf(error)).toEqual({
      type: 'error',
      error: { type: 'server_error', code: 'upstream_timeout', message: 'Too slow.', param: null },
      code: 'upstream_timeout',
      message: 'Too slow.',
      param: null,
      sequence_number: 8,
    })
    expect(failed?.event).toBe('response.failed')
    expect(done).toEqual({ data: '[DONE]' })
    expect(lastResponse(messages)).toMatchObject({
      status: 'failed',
      // OpenAI's list of codes does not have `upstream_timeout`.
      error: { code: 'server_error', message: 'Too slow.' },
      output: [{ status: 'incomplete', content: [{ text: 'a' }] }],
    })
  })

  test('the ending of a rendered Responses stream that failed keeps the error codes that clients check for', () => {
    const failure = { ...createFailure('invalid_value', 'No.'), code: 'insufficient_quota' }
    const messages = renderEvents([BEGIN, { type: 'answer-failed', failure }])
    expect(lastResponse(messages)['error']).toEqual({ code: 'insufficient_quota', message: 'No.' })
  })

  test('an answer without a finish reason is rendered as a failed Responses stream', () => {
    expect(lastResponse(renderEvents([BEGIN]))).toMatchObject({ status: 'failed', output: [] })
    expect(typesOf([])).toEqual(['created', 'in_progress', 'error', 'failed', '[DONE]'])
  })

  test("the ending of a rendered Responses stream has the status of the answer's outcome, even if the last event contradicts it", () => {
    const renderer = responsesDialect.createRenderer(answeringTo())
    for (const event of [...answered, END]) renderer.push(event)
    const failure = createFailure('store_unavailable', 'Not kept.')
    const outcome = { ...outcomeOf([...answered, END]), finish: null, failure }
    expect(lastResponse(renderer.end(outcome, ENDED_AT_MS))).toMatchObject({
      status: 'failed',
      output: [{ status: 'completed' }],
    })
  })
})

test('the rendered Responses stream of a background run starts with the status queued', () => {
  const types = typesOf([BEGIN, END], answeringTo({ ...ASK, background: true }))
  expect(types).toEqual(['created', 'queued', 'in_progress', 'completed', '[DONE]'])
})
