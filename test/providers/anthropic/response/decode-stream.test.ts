import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { anthropic } from '../../../../src/providers/anthropic/anthropic.ts'
import {
  accountOf,
  createAnswer,
  block,
  decode,
  decodeSse,
  expectOrdered,
  itemsOf,
  look,
  promptOf,
  textBlock,
} from '../kit.ts'

const HI = textBlock('Hi', ' there')

function lastEvent(events: readonly StreamEvent[]): StreamEvent | undefined {
  return events.at(-1)
}

describe('decoded Anthropic answers', () => {
  test('the text deltas of an Anthropic stream are emitted one by one', () => {
    expect(decode(createAnswer(HI))).toEqual([
      { type: 'answer-started', upstreamId: 'msg_1', model: 'claude-sonnet-4-5' },
      { type: 'item-started', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'text-delta', index: 0, part: 0, text: 'Hi' },
      { type: 'text-delta', index: 0, part: 0, text: ' there' },
      {
        type: 'item-ended',
        index: 0,
        item: {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi there' }],
        },
      },
      {
        type: 'answer-ended',
        finish: 'stop',
        usage: {
          inputTokens: 3,
          cachedTokens: null,
          cacheWriteTokens: null,
          outputTokens: 5,
          reasoningTokens: null,
          totalTokens: 8,
        },
      },
    ])
  })

  test('an Anthropic thinking block becomes a readable summary and keeps the original block', () => {
    const thinking = block(
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me' },
      { type: 'thinking_delta', thinking: ' see.' },
      { type: 'signature_delta', signature: 'c2' },
      { type: 'signature_delta', signature: 'ln' },
    )
    const events = decode(createAnswer(thinking, HI))
    expect(events.slice(1, 5)).toEqual([
      { type: 'item-started', index: 0, item: { type: 'reasoning', summary: [] } },
      { type: 'reasoning-delta', index: 0, channel: 'summary', part: 0, text: 'Let me' },
      { type: 'reasoning-delta', index: 0, channel: 'summary', part: 0, text: ' see.' },
      {
        type: 'item-ended',
        index: 0,
        item: {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'Let me see.' }],
          encrypted_content: expect.stringMatching(
            /^anthropic:thinking:[0-9a-f]{8}:c2ln$/,
          ) as string,
          native: { anthropic: { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' } },
        },
      },
    ])
  })

  test('a redacted thinking block becomes a reasoning item without text', () => {
    const redacted = { type: 'redacted_thinking', data: 'c2VhbGVk' }
    expect(itemsOf(decode(createAnswer(block(redacted))))).toEqual([
      {
        type: 'reasoning',
        summary: [],
        encrypted_content: 'anthropic:redacted_thinking:c2VhbGVk',
        native: { anthropic: redacted },
      },
    ])
  })

  test('the argument deltas of a tool call in an Anthropic stream are emitted one by one', () => {
    const use = block(
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"at": ' },
      { type: 'input_json_delta', partial_json: '"it"}' },
    )
    const common = { type: 'function_call', call_id: 'toolu_1', name: 'look' }
    expect(decode(createAnswer(use)).slice(1, -1)).toEqual([
      { type: 'item-started', index: 0, item: { ...common, arguments: '' } },
      { type: 'arguments-delta', index: 0, text: '{"at": ' },
      { type: 'arguments-delta', index: 0, text: '"it"}' },
      { type: 'item-ended', index: 0, item: { ...common, arguments: '{"at": "it"}' } },
    ])
  })

  test('an Anthropic tool call without input gets an empty object as arguments', () => {
    const use = block({ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} })
    const events = decode(createAnswer(use))
    expect(events[2]).toEqual({ type: 'arguments-delta', index: 0, text: '{}' })
    expect(itemsOf(events)).toMatchObject([{ arguments: '{}' }])
  })

  test("tool calls in an Anthropic answer get the client's tool names, and calls of custom tools get plain text as input", () => {
    const tools = [
      { type: 'custom', name: 'grep', description: null, format: null } as const,
      look('files.read'),
    ]
    const { tools: sent } = anthropic.encode(promptOf([], { tools }), accountOf()).body as {
      tools: readonly { name: string }[]
    }
    const events = decode(
      createAnswer(
        block(
          { type: 'tool_use', id: 'a', name: 'grep', input: {} },
          { type: 'input_json_delta', partial_json: '{"input":"so\\n' },
          { type: 'input_json_delta', partial_json: 'what"}' },
        ),
        block({ type: 'tool_use', id: 'b', name: sent[1]?.name ?? '', input: {} }),
      ),
      promptOf([], { tools }),
    )
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'grep', input: 'so\nwhat' },
      { type: 'function_call', call_id: 'b', name: 'files.read', arguments: '{}' },
    ])
  })

  test("a call of Anthropic's structured-output tool is decoded as text", () => {
    const use = block(
      { type: 'tool_use', id: 'a', name: 'backstory_json_answer', input: {} },
      { type: 'input_json_delta', partial_json: '{"a":' },
      { type: 'input_json_delta', partial_json: '1}' },
    )
    const events = decode(createAnswer(use))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '{"a":1}' }] },
    ])
  })

  test('consecutive non-empty text blocks of an Anthropic answer become parts of one message', () => {
    const events = decode(createAnswer(textBlock('one'), textBlock(''), textBlock(' two')))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'one' },
          { type: 'output_text', text: ' two' },
        ],
      },
    ])
  })

  test('citations in an Anthropic stream are emitted at the end of their text', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://example.com/a',
      title: 'A',
      cited_text: 'so',
      encrypted_index: 'x',
    }
    const cited = block(
      { type: 'text', text: '', citations: [] },
      { type: 'citations_delta', citation },
      { type: 'text_delta', text: 'It is so.' },
    )
    const annotation = {
      type: 'url_citation',
      url: 'https://example.com/a',
      title: 'A',
      start_index: 0,
      end_index: 9,
    }
    const events = decode(createAnswer(HI, cited))
    expect(events).toContainEqual({ type: 'annotation-added', index: 0, part: 1, annotation })
    expect(itemsOf(events)).toMatchObject([
      {
        content: [{ text: 'Hi there' }, { text: 'It is so.', annotations: [annotation] }],
        native: { anthropic: { citations: [null, [citation]] } },
      },
    ])
  })

  test("a block of Anthropic's server tools becomes an opaque item with the content of all its deltas", () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ url: 'u' }] }
    const events = decode(
      createAnswer(
        block(search, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
        block(found),
        block({ type: 'hologram', light: 'a' }, { type: 'light_delta', light: 'b', angle: 3 }),
      ),
    )
    expectOrdered(events)
    expect(itemsOf(events).map((item) => (item.type === 'opaque' ? item.raw : item))).toEqual([
      { ...search, input: { query: 'x' } },
      found,
      { type: 'hologram', light: 'ab', angle: 3 },
    ])
  })

  test('an Anthropic refusal without content becomes a message with the explanation', () => {
    const explanation = 'This request was blocked.'
    const events = decode([
      { type: 'message_start', message: {} },
      {
        type: 'message_delta',
        delta: { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation } },
      },
      { type: 'message_stop' },
    ])
    expectOrdered(events)
    expect(itemsOf(events)).toMatchObject([
      { content: [{ type: 'refusal', refusal: explanation }] },
    ])
    expect(lastEvent(events)).toMatchObject({ finish: 'content-filter' })
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content-filter'],
    ['something_new', 'stop'],
  ])("Anthropic's stop reason %s is decoded as the finish reason %s", (stop_reason, finish) => {
    const events = decode([
      ...createAnswer(HI).slice(0, -2),
      { type: 'message_delta', delta: { stop_reason }, usage: null },
      { type: 'message_stop' },
    ])
    expect(lastEvent(events)).toMatchObject({ type: 'answer-ended', finish })
  })

  test('the Anthropic decoder ignores pings, unknown events and empty lines', () => {
    const [start, ...rest] = createAnswer(HI)
    const events = decode([start ?? {}, { type: 'ping' }, { type: 'weather', is: 'fine' }, ...rest])
    expect(events).toEqual(decode(createAnswer(HI)))
    expect(decodeSse([{ data: '' }])).toMatchObject([{}, { type: 'answer-failed' }])
  })

  test('a non-streamed Anthropic answer gives the same items as its stream', () => {
    const body = {
      type: 'message',
      id: 'msg_1',
      model: 'claude-sonnet-4-5',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'Hi', citations: null },
        { type: 'tool_use', id: 'a', name: 'look', input: { at: 'it' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 5 },
    }
    const events = anthropic.decodeBody(body, accountOf())
    expectOrdered(events)
    expect(events).toEqual(
      decode(
        createAnswer(
          block(
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: 'Hm.' },
            { type: 'signature_delta', signature: 'sig' },
          ),
          textBlock('Hi'),
          block(
            { type: 'tool_use', id: 'a', name: 'look', input: {} },
            { type: 'input_json_delta', partial_json: '{"at":"it"}' },
          ),
        ),
      ),
    )
  })
})
