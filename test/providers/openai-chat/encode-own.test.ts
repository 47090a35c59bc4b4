/** What a client of the same language wrote goes on as it is, with as little changed as can be. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Prompt } from '../../../src/core/prompt.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import { accountOf, assistant, call, output, ownPrompt, sendPrompt, user } from './kit.ts'

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

/** Or the bytes, where they are sent. */
function bodyOf(prompt: Prompt, quirks: JsonObject = {}) {
  const { body, bytes } = openaiChat.encode(prompt, accountOf(quirks))
  return bytes ?? body
}

test('an untouched request keeps its very bytes', () => {
  const prompt = ownPrompt(BODY)
  expect(bodyOf(prompt)).toBe(prompt.source.bytes())
  expect(openaiChat.encode(prompt, accountOf()).notes).toEqual([])
})

test('leaving out store alone writes nothing anew', () => {
  const bytes = ownPrompt(BODY).source.bytes()
  expect(bodyOf(ownPrompt({ ...BODY, store: true }))).toEqual(bytes)
})

test('store is for the gateway alone, and so is the metadata that goes with it', () => {
  const metadata = { a: 'b' }
  expect(bodyOf(ownPrompt({ ...BODY, store: true, metadata }))).toEqual(BODY)
  expect(bodyOf(ownPrompt({ ...BODY, store: false, metadata }))).toEqual({ ...BODY, metadata })
  const labelled = ownPrompt({ ...BODY, metadata })
  expect(bodyOf(labelled)).toBe(labelled.source.bytes())
})

test('a setting that changed is written anew, with the messages of the client', () => {
  const prompt = ownPrompt({ ...BODY, max_tokens: 5 })
  const params = { ...prompt.params, model: 'm-2', maxOutputTokens: 9, temperature: null }
  const body = bodyOf({ ...prompt, params }) as JsonObject
  const { temperature: _temperature, ...rest } = BODY
  expect(body).toEqual({ ...rest, model: 'm-2', max_completion_tokens: 9 })
  expect(body['messages']).toBe(BODY['messages'])
})

test('an extra field that was taken out or changed is so in the body', () => {
  const prompt = ownPrompt(BODY)
  const params = { ...prompt.params, extra: { top_k: 4 } }
  const { x_gateway: _x, ...rest } = BODY
  expect(bodyOf({ ...prompt, params })).toEqual({ ...rest, top_k: 4 })
})

test('a turn that is added in front rewrites the messages and nothing else', () => {
  const prompt = ownPrompt(BODY)
  const items = [user('before'), assistant('yes'), ...prompt.items]
  expect(bodyOf({ ...prompt, items })).toEqual({
    ...BODY,
    messages: [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'yes' },
      ...(BODY['messages'] as JsonObject[]),
    ],
  })
})

test('instructions that were added stand in front', () => {
  const prompt = ownPrompt(BODY)
  const params = { ...prompt.params, instructions: 'Say yes.' }
  expect(sendPrompt({ ...prompt, params }).messages).toEqual([
    { role: 'system', content: 'Say yes.' },
    ...(BODY['messages'] as JsonObject[]),
  ])
})

test('whether to stream is what the prompt says', () => {
  const asked = ownPrompt({ ...BODY, stream_options: { include_usage: true } })
  const { stream: _stream, ...rest } = BODY
  expect(bodyOf({ ...asked, stream: false })).toEqual({ ...rest, stream: false })
})

test('reasoning of the client goes back under the name it came with', () => {
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
  const prompt = ownPrompt({ model: 'm', messages })
  expect(sendPrompt({ ...prompt, items: [...prompt.items] }).messages).toEqual(messages)
})

describe('what the account says of its upstream holds for the client as well', () => {
  test('fields that are refused are left out', () => {
    const { body, notes } = sendPrompt(ownPrompt(BODY), { refuses: ['top_k', 'seed'] })
    const { top_k: _top, ...rest } = BODY
    expect(body).toEqual(rest)
    expect(notes).toEqual([
      { did: 'dropped', why: 'parameter-refused', by: 'chat', field: 'top_k' },
    ])
  })

  test('a limit goes by the name that is known', () => {
    const prompt = ownPrompt({ ...BODY, max_completion_tokens: 5 })
    expect(bodyOf(prompt, { maxTokensField: 'max_tokens' })).toEqual({ ...BODY, max_tokens: 5 })
    expect(bodyOf(prompt)).toBe(prompt.source.bytes())
    expect(bodyOf(prompt, { maxTokensField: 'max_completion_tokens' })).toBe(prompt.source.bytes())
  })

  test('developer becomes system where it is not known', () => {
    const prompt = ownPrompt(BODY)
    expect(sendPrompt(prompt, { developerRole: false }).messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
    ])
  })

  test('ids that are not taken are changed, and then only', () => {
    const talk = (id: string) =>
      ownPrompt({
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
    const fit = talk('abcDEF123')
    expect(bodyOf(fit, { profile: 'mistral' })).toBe(fit.source.bytes())
    const { body, whys } = sendPrompt(talk('call_1'), { profile: 'mistral' })
    const [, spoken, answer] = body['messages'] as JsonObject[]
    const id = answer?.['tool_call_id']
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(spoken).toMatchObject({ tool_calls: [{ id }] })
    expect(whys).toEqual(['call-id-changed'])
  })

  test('custom tools become functions where they are not known', () => {
    const tool = { type: 'custom', custom: { name: 'sh', description: 'Runs it.' } }
    const prompt = ownPrompt({ ...BODY, tools: [tool], tool_choice: 'required' })
    expect(bodyOf(prompt)).toBe(prompt.source.bytes())
    const { body, whys } = sendPrompt(prompt, { customTools: false })
    expect(body['tools']).toMatchObject([{ type: 'function', function: { name: 'sh' } }])
    expect(body['tool_choice']).toBe('required')
    expect(whys).toEqual(['custom-tool-as-function'])
  })
})

test('a conversation in the way of functions keeps to it', () => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    { role: 'function', name: 'f', content: 'ok' },
  ]
  const prompt = ownPrompt({ model: 'm', messages, functions: [{ name: 'f' }] })
  expect(sendPrompt({ ...prompt, items: [...prompt.items] }).messages).toEqual(messages)
})

test('what came from another account is not sent with its seals (C98)', () => {
  const prompt = ownPrompt(BODY)
  const origin = { wire: 'chat', account: 'other', model: 'm', prefixHash: null }
  const details = [{ type: 'reasoning.encrypted', data: 'x' }]
  const items = [
    user('go'),
    { type: 'reasoning', summary: [], origin, native: { chat: { reasoning_details: details } } },
    { ...call('a', 'f', '{}', { $entry: { extra_content: { s: 1 } } }), origin },
    output('a'),
  ] as const
  const { messages, whys } = sendPrompt({ ...prompt, items })
  expect((messages as JsonObject[])[1]).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  })
  expect(whys).toEqual(['reasoning-of-elsewhere'])
})

describe('stop sequences', () => {
  const stop = ['a', 'b', 'c', 'd', 'e']
  const sent = (body: JsonObject, quirks: JsonObject) => {
    const {
      body: encoded,
      notes,
      unsentStopSequences,
    } = openaiChat.encode(ownPrompt(body), accountOf(quirks))
    return {
      stop: encoded['stop'],
      unsentStops: unsentStopSequences,
      notes: notes.map(({ why }) => why),
    }
  }

  test('beyond what the account says of its upstream are left to the gateway', () => {
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
    ['the account says nothing', {}, {}],
    ['they are not too many', {}, { maxStops: 5 }],
    // Of several, only one answer could be ended and told anew.
    ['several choices are asked for', { n: 2 }, { maxStops: 2 }],
  ])('stay as they were written where %s', (_, more, quirks) => {
    const prompt = ownPrompt({ ...BODY, stop, ...more })
    const { bytes, unsentStopSequences } = openaiChat.encode(prompt, accountOf(quirks))
    expect(bytes).toBe(prompt.source.bytes())
    expect(unsentStopSequences).toEqual([])
  })
})
