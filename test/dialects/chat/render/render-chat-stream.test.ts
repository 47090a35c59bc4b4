import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { Item } from '../../../../src/core/item.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import {
  createAnswerContext,
  call,
  renderChunks,
  renderDeltas,
  ENDED,
  foldOutcome,
  renderStream,
  assistant,
  STARTED,
  reasoning,
  answer,
  TURN,
} from '../kit.ts'

test('a chat stream consists of a start, the deltas, a finish reason and [DONE], and all its chunks have one id', () => {
  expect(renderStream(answer(assistant('Hello')))).toEqual(
    [{ role: 'assistant', content: '' }, { content: 'Hello' }]
      .map((delta) => ({
        id: `chatcmpl-${TURN}`,
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'made-by',
        choices: [{ index: 0, delta, logprobs: null, finish_reason: null as string | null }],
      }))
      .concat([
        {
          id: `chatcmpl-${TURN}`,
          object: 'chat.completion.chunk',
          created: 1_700_000_000,
          model: 'made-by',
          choices: [{ index: 0, delta: {} as never, logprobs: null, finish_reason: 'stop' }],
        },
      ])
      .map((chunk) => ({ data: JSON.stringify(chunk) }))
      .concat([{ data: '[DONE]' }]),
  )
})

test('a chat stream contains the usage once, in a chunk without choices, if the client requests it', () => {
  const all = renderChunks(answer(assistant('a')), {
    stream_options: { include_usage: true },
  })
  expect(all.filter(({ usage }) => usage !== null)).toEqual([
    expect.objectContaining({
      choices: [],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    }),
  ])
  expect(all.at(-1)?.choices).toEqual([])
  for (const chunk of renderChunks(answer(assistant('a'))))
    expect(chunk).not.toHaveProperty('usage')
})

test('chat chunks contain the requested model if the upstream reports none', () => {
  const silent: StreamEvent = { type: 'answer-started', upstreamId: null, model: null }
  expect(renderChunks([silent, ENDED])[0]).toMatchObject({ model: 'requested' })
})

test.each([
  ['stop', [assistant('a')], 'stop'],
  ['stop', [assistant('a'), call('x')], 'tool_calls'],
  ['length', [call('x')], 'length'],
  ['content-filter', [], 'content_filter'],
] as const)(
  'an answer that ends with %s and contains %j has the finish reason %s in its chat stream',
  (finish, items, reason) => {
    const events = [
      ...answer(...items).slice(0, -1),
      { type: 'answer-ended', finish, usage: null } as const,
    ]
    expect(renderChunks(events).at(-1)?.choices[0]?.finish_reason).toBe(reason)
  },
)

describe('tool calls in a chat stream', () => {
  test('tool calls in a chat stream are numbered from 0 without gaps, even if other items are between them', () => {
    const custom: Item = { type: 'custom_tool_call', call_id: 'c', name: 'sh', input: 'ls' }
    expect(
      renderDeltas(answer(reasoning('Hm'), assistant('a'), call('x', 'f', '{"x":1}'), custom)),
    ).toEqual([
      { reasoning_content: 'Hm' },
      { content: 'a' },
      {
        tool_calls: [
          { index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
      { tool_calls: [{ index: 1, id: 'c', type: 'custom', custom: { name: 'sh', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'ls' } }] },
    ])
  })

  test('tool calls whose deltas are interleaved keep their numbers in a chat stream, and empty deltas are dropped', () => {
    const [a, b] = [call('a'), call('b')]
    const events: StreamEvent[] = [
      STARTED,
      { type: 'item-started', index: 0, item: { ...a, arguments: '' } as Item },
      { type: 'item-started', index: 1, item: { ...b, arguments: '' } as Item },
      { type: 'arguments-delta', index: 1, text: '{}' },
      { type: 'arguments-delta', index: 0, text: '' },
      { type: 'arguments-delta', index: 0, text: '{}' },
      { type: 'item-ended', index: 1, item: b },
      { type: 'item-ended', index: 0, item: a },
      ENDED,
    ]
    expect(renderDeltas(events).slice(2)).toEqual([
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
    ])
  })

  test('a tool call without deltas is written to the chat stream when it ends', () => {
    const events: StreamEvent[] = [
      STARTED,
      { type: 'item-started', index: 0, item: call('a', '') },
      { type: 'item-ended', index: 0, item: call('a', 'f', '{"x":1}') },
      ENDED,
    ]
    expect(renderDeltas(events)).toMatchObject([
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
    ])
  })
})

test('items that Chat Completions has no field for are left out of a chat stream', () => {
  const searched: Item = { type: 'opaque', raw: { type: 'web_search_call', id: 'ws' } }
  expect(renderDeltas(answer(searched, assistant('a')))).toEqual([{ content: 'a' }])
})

test('a blank line separates messages, and parts of reasoning, in a chat stream', () => {
  expect(
    renderDeltas(
      answer(reasoning('one', 'two'), assistant('a', 'b'), reasoning('three'), assistant('c')),
    ),
  ).toEqual([
    { reasoning_content: 'one' },
    { reasoning_content: '\n\ntwo' },
    { content: 'a' },
    { content: 'b' },
    { reasoning_content: '\n\nthree' },
    { content: '\n\nc' },
  ])
})

test('reasoning with both a summary and a raw text is sent only as one of them in a chat stream', () => {
  const both: Item = {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'short' }],
    content: [{ type: 'reasoning_text', text: 'long' }],
  }
  expect(renderDeltas(answer(both))).toEqual([{ reasoning_content: 'short' }])
})

test('a chat stream contains reasoning details after the reasoning text', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'x', index: 0 }]
  const item: Item = {
    ...reasoning('Hm'),
    native: { chat: { reasoning_details: details } },
  }
  expect(renderDeltas(answer(item, assistant('a')))).toEqual([
    { reasoning_content: 'Hm' },
    { reasoning_details: details },
    { content: 'a' },
  ])
})

test('refusals, citations, images and log probabilities are sent in their own fields of a chat stream', () => {
  const token = { token: 'a', logprob: -0.1 }
  const picture = { type: 'image_url', image_url: { url: 'data:x' } }
  const item: Item = {
    type: 'message',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'a',
        logprobs: [token],
        annotations: [
          { type: 'url_citation', url: 'https://a.example', title: 'A' },
          { type: 'file_citation', file_id: 'f' },
        ],
      },
      { type: 'refusal', refusal: 'No.' },
      { type: 'opaque', raw: picture },
    ],
  }
  expect(renderDeltas(answer(item))).toEqual([
    { content: 'a' },
    { content: '' },
    { refusal: 'No.' },
    {
      annotations: [
        { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } },
      ],
    },
    { images: [picture] },
  ])
  expect(renderChunks(answer(item))[2]?.choices[0]?.logprobs).toEqual({
    content: [token],
    refusal: null,
  })
})

test('a failed chat stream ends with an error without choices, and has no finish reason', () => {
  const failure = createFailure('upstream_broken', 'It broke off.')
  const events: StreamEvent[] = [
    STARTED,
    { type: 'item-started', index: 0, item: assistant() },
    { type: 'text-delta', index: 0, part: 0, text: 'Hel' },
    { type: 'answer-failed', failure },
  ]
  const messages = renderStream(events)
  expect(messages.slice(-2)).toEqual([
    {
      data: '{"error":{"message":"It broke off.","type":"server_error","param":null,"code":"upstream_broken"}}',
    },
    { data: '[DONE]' },
  ])
  expect(messages.map(({ data }) => data).join('')).not.toContain('"stop"')
})

test('an answer without events is written to the chat stream when it ends', () => {
  const outcome = foldOutcome(answer(assistant('Hello'), call('x')))
  const messages = chatDialect.createRenderer(createAnswerContext()).end(outcome, 0)
  const text = messages.map(({ data }) => data).join('')
  expect(text).toContain('"content":"Hello"')
  expect(text).toContain('"finish_reason":"tool_calls"')
})

describe('the line length of a chat stream', () => {
  const LIMIT = 65_536
  const bytes = (text: string) => new TextEncoder().encode(`data: ${text}\n\n`).length
  // A cut at 10,000 characters would fall inside of a surrogate pair.
  const long = `abcd${'🦊"\u0001ä'.repeat(20_000)}`

  test('a chat stream splits a long text into lines of less than 64 KiB without losing any of it', () => {
    const item: Item = {
      ...reasoning(long),
      native: { chat: { reasoning_details: [{ type: 'reasoning.text', text: long, index: 0 }] } },
    }
    const events = answer(item, assistant(long), call('x', 'f', long))
    for (const { data } of renderStream(events)) expect(bytes(data)).toBeLessThanOrEqual(LIMIT)
    const all = renderDeltas(events)
    for (const { content } of all) expect(String(content ?? '').isWellFormed()).toBe(true)
    const sum = (read: (delta: (typeof all)[number]) => unknown) =>
      all.map((delta) => read(delta) ?? '').join('')
    expect(sum((delta) => delta['content'])).toBe(long)
    expect(sum((delta) => delta['reasoning_content'])).toBe(long)
    expect(
      sum((delta) => (delta['reasoning_details'] as { text: string }[] | undefined)?.[0]?.text),
    ).toBe(long)
    expect(
      sum(
        (delta) =>
          (delta['tool_calls'] as { function: { arguments: string } }[] | undefined)?.[0]?.function
            .arguments,
      ),
    ).toBe(long)
  })

  test('log probabilities and citations are split into lines of less than 64 KiB in a chat stream', () => {
    const tokens = Array.from({ length: 2000 }, () => ({
      token: 'word',
      logprob: -0.1,
      bytes: [119, 111, 114, 100],
      top_logprobs: Array.from({ length: 20 }, () => ({
        token: 'word',
        logprob: -1.5,
        bytes: [1],
      })),
    }))
    const annotations = Array.from({ length: 60 }, (_, at) => ({
      type: 'url_citation',
      url: `https://a.example/${at}`,
      content: 'x'.repeat(2000),
    }))
    const item: Item = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a', logprobs: tokens, annotations }],
    }
    for (const { data } of renderStream(answer(item)))
      expect(bytes(data)).toBeLessThanOrEqual(LIMIT)
    const sent = renderDeltas(answer(item)).flatMap((delta) => delta['annotations'] ?? [])
    expect(sent).toHaveLength(60)
  })
})
