import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { parseToItems, readFailure } from '../kit.ts'

const text = (text: string) => ({ type: 'input_text', text })
const outputText = (text: string) => ({ type: 'output_text', text })

test('a chat message of every role becomes an item with that role (C2)', () => {
  expect(
    parseToItems(
      { role: 'system', content: 'a' },
      { role: 'developer', content: [{ type: 'text', text: 'b' }] },
      { role: 'user', content: '' },
      { role: 'assistant', content: '' },
    ),
  ).toEqual([
    { type: 'message', role: 'system', content: [text('a')] },
    { type: 'message', role: 'developer', content: [text('b')] },
    { type: 'message', role: 'user', content: [text('')] },
    { type: 'message', role: 'assistant', content: [outputText('')] },
  ])
})

test('media in chat messages are parsed, and parts of unknown types are stored unchanged (C3, C4)', () => {
  const video = { type: 'video_url', video_url: { url: 'https://a.example/v' } }
  expect(
    parseToItems({
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:x', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'file', file: { file_data: 'data:y', filename: 'a.pdf' } },
        video,
      ],
    }),
  ).toEqual([
    {
      type: 'message',
      role: 'user',
      content: [
        text('see'),
        { type: 'input_image', image_url: 'data:x', detail: 'low' },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'input_file', file_data: 'data:y', filename: 'a.pdf' },
        { type: 'opaque', raw: video },
      ],
    },
  ])
})

test('the name and unknown fields of a chat message are stored under `native.chat`', () => {
  const cache_control = { type: 'ephemeral' }
  expect(
    parseToItems({
      role: 'user',
      name: 'Ann',
      weight: 0,
      content: [{ type: 'text', text: 'hi', cache_control }],
    }),
  ).toEqual([
    {
      type: 'message',
      role: 'user',
      content: [text('hi')],
      native: { chat: { name: 'Ann', weight: 0, $parts: [{ cache_control }] } },
    },
  ])
})

test.each(['$parts', '$entry', '$legacy', '$field', '$unknown'])(
  "the parser of chat messages ignores a client's field with the internal name %s",
  (name) => {
    const messages: readonly JsonObject[] = [
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'b', more: 1 }] },
      { role: 'assistant', content: 'c', reasoning_content: 'd' },
      { role: 'assistant', content: null, tool_calls: [toolCall('c1')] },
      { role: 'tool', tool_call_id: 'c1', content: 'e' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'g' },
    ]
    const values = [
      5,
      true,
      'reasoning',
      null,
      [{ a: 1 }],
      { '0': { type: 'image_url' }, length: 1 },
    ]
    for (const value of values) {
      const forged = messages.map((message) => ({ ...message, [name]: value }))
      expect(parseToItems(...forged)).toEqual(parseToItems(...messages))
    }
  },
)

const toolCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
})

describe('parsing assistant messages of a chat request', () => {
  const entry = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  })

  test('an assistant message is parsed into reasoning, a message and tool calls, in this order', () => {
    expect(
      parseToItems({
        role: 'assistant',
        content: 'Wait.',
        reasoning_content: 'Hm',
        tool_calls: [entry('a'), entry('b')],
      }),
    ).toEqual([
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm' }],
        native: { chat: { $field: 'reasoning_content' } },
      },
      { type: 'message', role: 'assistant', content: [outputText('Wait.')] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'look', arguments: '{}' },
    ])
  })

  test('an assistant message that contains only tool calls becomes no message item', () => {
    for (const content of [null, '', undefined, []]) {
      const message = { role: 'assistant', content, tool_calls: [entry('a')] }
      expect(parseToItems(message).map(({ type }) => type)).toEqual(['function_call'])
    }
  })

  test('an assistant message without any content becomes an empty message item', () => {
    expect(parseToItems({ role: 'assistant', content: null })).toEqual([
      { type: 'message', role: 'assistant', content: [] },
    ])
  })

  test('a refusal in an assistant chat message becomes a content part of its own', () => {
    expect(parseToItems({ role: 'assistant', content: null, refusal: 'No.' })).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ])
    expect(parseToItems({ role: 'assistant', content: 'a', refusal: null })).toHaveLength(1)
  })

  test('reasoning details of an assistant message are stored, and their text is parsed as reasoning', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'S', index: 0 },
      { type: 'reasoning.text', text: 'T', signature: 'x', index: 1 },
      { type: 'reasoning.encrypted', data: 'E', index: 2 },
    ]
    expect(
      parseToItems({ role: 'assistant', content: 'a', reasoning_details: details })[0],
    ).toEqual({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'S' }],
      content: [{ type: 'reasoning_text', text: 'T' }],
      native: { chat: { reasoning_details: details } },
    })
  })

  test('a reasoning field with an unexpected type is stored as an unknown field of the assistant message', () => {
    for (const field of [
      { reasoning_content: '' },
      { reasoning: { a: 1 } },
      { reasoning_details: 'x' },
    ]) {
      expect(parseToItems({ role: 'assistant', content: 'a', ...field })).toEqual([
        { type: 'message', role: 'assistant', content: [outputText('a')], native: { chat: field } },
      ])
    }
  })

  test('unknown fields of an assistant chat message without text are stored with its first tool call', () => {
    const extra_content = { google: { thought_signature: 's' } }
    expect(
      parseToItems({
        role: 'assistant',
        content: null,
        name: 'Ann',
        tool_calls: [{ ...entry('a'), extra_content, index: 0 }, entry('b')],
      }),
    ).toMatchObject([
      { call_id: 'a', native: { chat: { name: 'Ann', $entry: { extra_content } } } },
      { call_id: 'b' },
    ])
  })

  test('the output of a custom tool call in an assistant message becomes a custom tool output', () => {
    const sh = { id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls' } }
    expect(
      parseToItems(
        { role: 'assistant', content: null, tool_calls: [sh] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ),
    ).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'x' },
    ])
  })
})

describe('parsing tool outputs of a chat request', () => {
  test('a tool output of a chat request is parsed both as a text and as a list of parts', () => {
    expect(
      parseToItems(
        { role: 'tool', tool_call_id: 'a', content: 'x', name: 'look' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'y' }] },
      ),
    ).toEqual([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: 'x',
        native: { chat: { name: 'look' } },
      },
      { type: 'function_call_output', call_id: 'b', output: [text('y')] },
    ])
  })

  test('chat tool outputs with an empty id are matched in order to the calls with an empty id', () => {
    const entry = { id: '', type: 'function', function: { name: 'look', arguments: '{}' } }
    const output = { role: 'tool', tool_call_id: '', content: 'x' }
    const items = parseToItems(
      { role: 'assistant', content: null, tool_calls: [entry, entry] },
      output,
      output,
    )
    const ids = items.map((item) => ('call_id' in item ? item.call_id : ''))
    expect(ids).toEqual(['call_0', 'call_1', 'call_0', 'call_1'])
  })

  test("the output of a legacy function is matched to its call by the function's name", () => {
    expect(
      parseToItems(
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'x' },
      ),
    ).toEqual([
      {
        type: 'function_call',
        call_id: 'call_0',
        name: 'f',
        arguments: '{}',
        native: { chat: { $legacy: true } },
      },
      { type: 'function_call_output', call_id: 'call_0', output: 'x' },
    ])
    expect(parseToItems({ role: 'function', name: 'g', content: null })).toMatchObject([
      { call_id: 'call_unknown_1', output: '' },
    ])
  })
})

test.each<[JsonObject, string, string]>([
  [{ role: 'boss', content: 'x' }, 'invalid_value', 'messages[1].role'],
  [{ content: 'x' }, 'missing_required_parameter', 'messages[1].role'],
  [{ role: 'user' }, 'missing_required_parameter', 'messages[1].content'],
  [{ role: 'user', content: null }, 'invalid_type', 'messages[1].content'],
  [{ role: 'user', content: 3 }, 'invalid_type', 'messages[1].content'],
  [
    { role: 'user', content: [{ type: 'text', text: 'a' }, 'b'] },
    'invalid_type',
    'messages[1].content[1]',
  ],
  [{ role: 'user', content: [{}] }, 'missing_required_parameter', 'messages[1].content[0].type'],
  [
    { role: 'user', content: [{ type: 'text' }] },
    'missing_required_parameter',
    'messages[1].content[0].text',
  ],
  [
    { role: 'user', content: [{ type: 'image_url', image_url: 'x' }] },
    'invalid_type',
    'messages[1].content[0].image_url',
  ],
  [
    { role: 'user', content: [{ type: 'image_url', image_url: {} }] },
    'missing_required_parameter',
    'messages[1].content[0].image_url.url',
  ],
  [{ role: 'user', content: 'x', name: 3 }, 'invalid_type', 'messages[1].name'],
  [{ role: 'tool', content: 'x' }, 'missing_required_parameter', 'messages[1].tool_call_id'],
  [{ role: 'tool', tool_call_id: 'a' }, 'missing_required_parameter', 'messages[1].content'],
  [{ role: 'function', content: 'x' }, 'missing_required_parameter', 'messages[1].name'],
  [{ role: 'assistant', tool_calls: {} }, 'invalid_type', 'messages[1].tool_calls'],
  [
    { role: 'assistant', tool_calls: [{}] },
    'missing_required_parameter',
    'messages[1].tool_calls[0].id',
  ],
  [
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'x' }] },
    'invalid_value',
    'messages[1].tool_calls[0].type',
  ],
  [
    { role: 'assistant', tool_calls: [{ id: 'a' }] },
    'missing_required_parameter',
    'messages[1].tool_calls[0].function',
  ],
  [
    { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] },
    'invalid_type',
    'messages[1].tool_calls[0].function.arguments',
  ],
  [{ role: 'assistant', refusal: 3 }, 'invalid_type', 'messages[1].refusal'],
])('the chat message %j is rejected with the path of the fault', (message, code, param) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }, message] }
  expect(readFailure(body)).toMatchObject({ status: 400, code, param })
})

test('a chat message that is not an object is rejected', () => {
  expect(readFailure({ model: 'm', messages: ['hi'] })).toMatchObject({ param: 'messages[0]' })
})

test('a chat message with thousands of fields with internal names loses all of them in linear time', () => {
  const internalFields = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`$${index}`, index]),
  )
  const before = performance.now()
  expect(parseToItems({ role: 'user', content: 'hi', ...internalFields })).toEqual(
    parseToItems({ role: 'user', content: 'hi' }),
  )
  expect(performance.now() - before).toBeLessThan(1_000)
})
