/** The request of a Chat Completions client is forwarded with as few changes as possible. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { Prompt } from '../../../../src/core/prompt.ts'
import { openaiChat } from '../../../../src/providers/openai-chat/openai-chat.ts'
import { accountOf, assistant, call, output, parseChatPrompt, encodePrompt, user } from '../kit.ts'

const BODY: JsonObject = {
  model: 'm',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] },
  ],
  stream: true,
  temperature: 0.5,
  x_gateway: { a: 1 },
  top_k: 3,
}

/** Returns the bytes if they are sent unchanged, otherwise the body. */
function encode(prompt: Prompt, quirks: JsonObject = {}) {
  const { body, bytes } = openaiChat.encode(prompt, accountOf(quirks))
  return bytes ?? body
}

test('an unchanged request of a Chat Completions client is sent as the same bytes', () => {
  const prompt = parseChatPrompt(BODY)
  expect(encode(prompt)).toBe(prompt.source.bytes())
  expect(openaiChat.encode(prompt, accountOf()).notes).toEqual([])
})

test("`store` is removed from a Chat Completions client's bytes without serializing the body again", () => {
  const bytes = parseChatPrompt(BODY).source.bytes()
  expect(encode(parseChatPrompt({ ...BODY, store: true }))).toEqual(bytes)
})

test('`store` and the `metadata` of a Chat Completions client that stores its answer are not sent upstream', () => {
  const metadata = { a: 'b' }
  expect(encode(parseChatPrompt({ ...BODY, store: true, metadata }))).toEqual(BODY)
  expect(encode(parseChatPrompt({ ...BODY, store: false, metadata }))).toEqual({
    ...BODY,
    metadata,
  })
  const withMetadata = parseChatPrompt({ ...BODY, metadata })
  expect(encode(withMetadata)).toBe(withMetadata.source.bytes())
})

test('a changed parameter of a Chat Completions client is encoded, and its messages are sent unchanged', () => {
  const prompt = parseChatPrompt({ ...BODY, max_tokens: 5 })
  const params = { ...prompt.params, model: 'm-2', maxOutputTokens: 9, temperature: null }
  const body = encode({ ...prompt, params }) as JsonObject
  const { temperature: _temperature, ...rest } = BODY
  expect(body).toEqual({ ...rest, model: 'm-2', max_completion_tokens: 9 })
  expect(body['messages']).toBe(BODY['messages'])
})

test('extra fields of a Chat Completions client are sent as a transform changed them, and not if it removed them', () => {
  const prompt = parseChatPrompt(BODY)
  const params = { ...prompt.params, extra: { top_k: 4 } }
  const { x_gateway: _x, ...rest } = BODY
  expect(encode({ ...prompt, params })).toEqual({ ...rest, top_k: 4 })
})

test('only the messages of a Chat Completions client are encoded again if items were added before them', () => {
  const prompt = parseChatPrompt(BODY)
  const items = [user('before'), assistant('yes'), ...prompt.items]
  expect(encode({ ...prompt, items })).toEqual({
    ...BODY,
    messages: [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'yes' },
      ...(BODY['messages'] as JsonObject[]),
    ],
  })
})

test('added instructions precede the messages of a Chat Completions client', () => {
  const prompt = parseChatPrompt(BODY)
  const params = { ...prompt.params, instructions: 'Say yes.' }
  expect(encodePrompt({ ...prompt, params }).messages).toEqual([
    { role: 'system', content: 'Say yes.' },
    ...(BODY['messages'] as JsonObject[]),
  ])
})

test("`stream` in a Chat Completions client's request is set to the prompt's value", () => {
  const streamed = parseChatPrompt({ ...BODY, stream_options: { include_usage: true } })
  const { stream: _stream, ...rest } = BODY
  expect(encode({ ...streamed, stream: false })).toEqual({ ...rest, stream: false })
})

test('reasoning of a Chat Completions client is sent in the field in which the client sent it', () => {
  const messages = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: 'so',
      reasoning_content: 'Hm',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0 }],
    },
    { role: 'user', content: 'and?' },
  ]
  const prompt = parseChatPrompt({ model: 'm', messages })
  expect(encodePrompt({ ...prompt, items: [...prompt.items] }).messages).toEqual(messages)
})

describe('account quirks for requests of Chat Completions clients', () => {
  test("a Chat Completions client's fields that the quirk `refuses` lists are not sent", () => {
    const { body, notes } = encodePrompt(parseChatPrompt(BODY), { refuses: ['top_k', 'seed'] })
    const { top_k: _top, ...rest } = BODY
    expect(body).toEqual(rest)
    expect(notes).toEqual([
      { did: 'dropped', why: 'parameter-refused', by: 'chat', field: 'top_k' },
    ])
  })

  test("a Chat Completions client's token limit is sent in the field that the quirk `maxTokensField` names", () => {
    const prompt = parseChatPrompt({ ...BODY, max_completion_tokens: 5 })
    expect(encode(prompt, { maxTokensField: 'max_tokens' })).toEqual({
      ...BODY,
      max_tokens: 5,
    })
    expect(encode(prompt)).toBe(prompt.source.bytes())
    expect(encode(prompt, { maxTokensField: 'max_completion_tokens' })).toBe(prompt.source.bytes())
  })

  test("a Chat Completions client's developer messages are sent as system messages with the quirk `developerRole: false`", () => {
    const prompt = parseChatPrompt(BODY)
    expect(encodePrompt(prompt, { developerRole: false }).messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
    ])
  })

  test("a Chat Completions client's call ids are changed only if they do not match the quirk `callIdPattern`", () => {
    const createPrompt = (id: string) =>
      parseChatPrompt({
        model: 'm',
        messages: [
          { role: 'user', content: 'go' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: id, content: 'ok' },
        ],
      })
    const accepted = createPrompt('abcDEF123')
    expect(encode(accepted, { profile: 'mistral' })).toBe(accepted.source.bytes())
    const { body, codes } = encodePrompt(createPrompt('call_1'), { profile: 'mistral' })
    const [, spoken, answer] = body['messages'] as JsonObject[]
    const id = answer?.['tool_call_id']
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(spoken).toMatchObject({ tool_calls: [{ id }] })
    expect(codes).toEqual(['call-id-changed'])
  })

  test("a Chat Completions client's custom tools are sent as functions with the quirk `customTools: false`", () => {
    const tool = { type: 'custom', custom: { name: 'sh', description: 'Runs it.' } }
    const prompt = parseChatPrompt({ ...BODY, tools: [tool], tool_choice: 'required' })
    expect(encode(prompt)).toBe(prompt.source.bytes())
    const { body, codes } = encodePrompt(prompt, { customTools: false })
    expect(body['tools']).toMatchObject([{ type: 'function', function: { name: 'sh' } }])
    expect(body['tool_choice']).toBe('required')
    expect(codes).toEqual(['custom-tool-as-function'])
  })
})

test("a Chat Completions client's conversation in the deprecated `functions` form keeps this form", () => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    { role: 'function', name: 'f', content: 'ok' },
  ]
  const prompt = parseChatPrompt({ model: 'm', messages, functions: [{ name: 'f' }] })
  expect(encodePrompt({ ...prompt, items: [...prompt.items] }).messages).toEqual(messages)
})

test('encrypted reasoning and signatures of another account are not sent to a chat upstream (C98)', () => {
  const prompt = parseChatPrompt(BODY)
  const origin = { wire: 'chat', account: 'other', model: 'm', prefixHash: null }
  const details = [{ type: 'reasoning.encrypted', data: 'x' }]
  const items = [
    user('go'),
    { type: 'reasoning', summary: [], origin, native: { chat: { reasoning_details: details } } },
    { ...call('a', 'f', '{}', { $entry: { extra_content: { s: 1 } } }), origin },
    output('a'),
  ] as const
  const { messages, codes } = encodePrompt({ ...prompt, items })
  expect((messages as JsonObject[])[1]).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  })
  expect(codes).toEqual(['reasoning-of-elsewhere'])
})

describe('stop sequences of a Chat Completions client', () => {
  const stop = ['a', 'b', 'c', 'd', 'e']
  const sent = (body: JsonObject, quirks: JsonObject) => {
    const {
      body: encoded,
      notes,
      unsentStopSequences,
    } = openaiChat.encode(parseChatPrompt(body), accountOf(quirks))
    return {
      stop: encoded['stop'],
      unsentStops: unsentStopSequences,
      notes: notes.map(({ why }) => why),
    }
  }

  test('the gateway itself ends answers at stop sequences beyond `maxStops`, and at all of them if the upstream refuses `stop`', () => {
    const cut = { stop: ['a', 'b'], unsentStops: ['c', 'd', 'e'], notes: ['stop-enforced'] }
    expect(sent({ ...BODY, stop }, { maxStops: 2 })).toEqual(cut)
    expect(sent({ ...BODY, stop }, { profile: 'openai' })).toMatchObject({ unsentStops: ['e'] })
    expect(sent({ ...BODY, stop: 'a' }, { refuses: ['stop'] })).toEqual({
      stop: undefined,
      unsentStops: ['a'],
      notes: ['stop-enforced'],
    })
  })

  test.each([
    ['the account sets no limit', {}, {}],
    ['the limit is not exceeded', {}, { maxStops: 5 }],
    // The gateway can stop and rewrite only one choice.
    ['the client requests several choices', { n: 2 }, { maxStops: 2 }],
  ])(
    'the stop sequences of a Chat Completions client are sent unchanged if %s',
    (_, more, quirks) => {
      const prompt = parseChatPrompt({ ...BODY, stop, ...more })
      const { bytes, unsentStopSequences } = openaiChat.encode(prompt, accountOf(quirks))
      expect(bytes).toBe(prompt.source.bytes())
      expect(unsentStopSequences).toEqual([])
    },
  )
})
