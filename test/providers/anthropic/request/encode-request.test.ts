/** Tests complete requests and the roles of their messages. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { anthropic } from '../../../../src/providers/anthropic/anthropic.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import {
  accountOf,
  assistant,
  call,
  contentAt,
  encode,
  encodeMessages,
  output,
  promptOf,
  system,
  thought,
  user,
} from '../kit.ts'

const text = (text: string) => ({ type: 'text', text })

test('a prompt with all parameters is encoded as a complete Anthropic request', () => {
  const { path, body, notes } = anthropic.encode(
    promptOf(
      [
        system('You are terse.'),
        user('How warm is it?'),
        thought('I look.'),
        assistant('One moment.'),
        call('toolu_1', 'look', '{"at":"Bern"}'),
        output('toolu_1', '4 degrees'),
        assistant('4 degrees.'),
        user('And tomorrow?'),
      ],
      {
        instructions: 'Use Celsius.',
        tools: [
          {
            type: 'function',
            name: 'look',
            description: 'Looks outside.',
            parameters: { type: 'object', properties: { at: { type: 'string' } } },
            strict: false,
          },
        ],
        maxOutputTokens: 500,
        temperature: 0.2,
        stop: ['END'],
        user: 'u1',
      },
    ),
    accountOf(),
  )
  const cache_control = { type: 'ephemeral' }
  expect(path).toBe('/messages')
  expect(body).toEqual({
    model: 'claude-sonnet-4-5',
    max_tokens: 500,
    system: [text('Use Celsius.'), { ...text('You are terse.'), cache_control }],
    tools: [
      {
        name: 'look',
        description: 'Looks outside.',
        input_schema: { type: 'object', properties: { at: { type: 'string' } } },
        cache_control,
      },
    ],
    messages: [
      { role: 'user', content: [text('How warm is it?')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I look.', signature: 'sig' },
          text('One moment.'),
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'Bern' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '4 degrees' }],
      },
      { role: 'assistant', content: [{ ...text('4 degrees.'), cache_control }] },
      { role: 'user', content: [{ ...text('And tomorrow?'), cache_control }] },
    ],
    temperature: 0.2,
    stop_sequences: ['END'],
    metadata: { user_id: 'u1' },
    stream: true,
  })
  expect(notes).toEqual([])
})

test('the headers of an Anthropic request contain the API key and the API version', () => {
  expect(anthropic.createHeaders(accountOf())).toEqual({
    'x-api-key': 'sk-ant-1',
    'anthropic-version': '2023-06-01',
  })
  expect(anthropic.createHeaders({ ...accountOf(), apiKey: null })).toEqual({
    'anthropic-version': '2023-06-01',
  })
})

describe('roles of messages in Anthropic requests', () => {
  test('adjacent messages of one role become one Anthropic message', () => {
    expect(
      encodeMessages([user('a'), user('b'), assistant('c'), assistant('d'), user('e')]),
    ).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ])
  })

  test('an Anthropic request whose conversation starts with the assistant gets a user message before it', () => {
    const { body, codes } = encode([assistant('Hello!'), user('Hi')])
    expect(contentAt(body, 0)).toEqual([text('Let us begin.')])
    expect(codes).toEqual(['first-user-line-added'])
  })

  test('a system message within the conversation is sent to Anthropic in the same position as user text in <system> tags', () => {
    const { body, codes } = encode([user('a'), assistant('b'), system('Be kind.'), user('c')])
    expect(contentAt(body, 2)).toEqual([text('<system>\nBe kind.\n</system>'), text('c')])
    expect(codes).toEqual(['system-in-place'])
  })

  test('Anthropic requests omit empty text, and blank text if the message has no other text', () => {
    const { body, codes } = encode([user('a', ''), assistant('\n\n'), user('b', ' ')])
    expect(body['messages']).toEqual([{ role: 'user', content: ['a', 'b', ' '].map(text) }])
    expect(codes).toEqual(['empty-text', 'empty-text'])
  })
})

describe('assistant messages at the end of Anthropic requests', () => {
  const items = [user('Yes or no?'), assistant('My answer is ')]

  test('a final assistant message is sent without its trailing space to a Claude model that can continue it', () => {
    const { body, codes } = encode(items)
    expect(contentAt(body, 1)).toEqual([text('My answer is')])
    expect(codes).toEqual([])
  })

  test.each<readonly [string, readonly Item[], Partial<PromptParameters>]>([
    ['cannot continue an assistant message', items, { model: 'claude-opus-4-6' }],
    ['thinks', [user('Yes or no?'), thought('so'), assistant('My answer is ')], { effort: 'low' }],
  ])(
    'a user message that asks to continue follows a final assistant message if the Claude model %s',
    (_, items, params) => {
      const { body, codes } = encode(items, params)
      expect(body['messages']).toMatchObject([
        {},
        {},
        { role: 'user', content: [{ type: 'text' }] },
      ])
      expect(codes).toEqual(['prefill-as-instruction'])
    },
  )

  test('a final assistant message that began without thinking is continued without thinking', () => {
    const { body, codes } = encode(items, { effort: 'low' })
    expect(body['messages']).toHaveLength(2)
    expect(codes).toEqual(['thinking-missing-in-loop'])
  })
})
