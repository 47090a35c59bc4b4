/** Encodes a conversation as chat messages: items that belong together in one message, notes for losses. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { talk } from '../../../support/talk.ts'
import { assistant, call, message, output, encode, reasoning, toolCall, user } from '../kit.ts'

test('instructions are the first message, and text is a plain string', () => {
  expect(
    encode([message('system', 'Be kind.'), user('hi'), assistant('ho')], {
      instructions: 'Be brief.',
    }).messages,
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ho' },
  ])
})

test('a developer message is sent as system unless the upstream knows the role', () => {
  const items = [message('developer', 'Be brief.'), user('hi')]
  expect(encode(items).messages).toMatchObject([{ role: 'system' }, { role: 'user' }])
  expect(encode(items).codes).toEqual(['developer-as-system'])
  expect(encode(items, {}, { developerRole: true }).messages).toMatchObject([
    { role: 'developer' },
    { role: 'user' },
  ])
})

test("a model's text parts are joined without a separator and input parts by lines", () => {
  const { messages, codes } = encode([user('a', 'b'), assistant('c', 'd')])
  expect(messages).toEqual([
    { role: 'user', content: 'a\nb' },
    { role: 'assistant', content: 'cd' },
  ])
  expect(codes).toEqual(['text-joined'])
})

describe('tool calls in Chat Completions requests', () => {
  test('calls of one answer are one message together with the text before them', () => {
    const items = talk`
      user: go
      assistant: Wait.
      call a look {"x":1}
      call b look
      output a one
      output b two
    `
    expect(encode(items).messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Wait.',
        tool_calls: [toolCall('a', 'look', '{"x":1}'), toolCall('b')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
    ])
    expect(encode(items).notes).toEqual([])
  })

  test('calls in successive answers are separate messages', () => {
    const items = talk`
      user: go
      call a
      output a one
      call b
      output b two
    `
    expect(encode(items).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
      { role: 'tool' },
      { role: 'assistant', tool_calls: [{ id: 'b' }] },
      { role: 'tool' },
    ])
  })

  test('calls are directly followed by their outputs, which other messages had separated', () => {
    const items = talk`
      user: go
      call a
      user: hurry
      output a one
      assistant: done
    `
    const { messages, notes } = encode(items)
    expect(messages).toMatchObject([
      { role: 'user', content: 'go' },
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'user', content: 'hurry' },
      { role: 'assistant' },
    ])
    expect(notes).toEqual([{ did: 'moved', why: 'output-moved', by: 'chat', at: 3 }])
  })

  test('calls of one answer are one message together with the text after them', () => {
    const { messages, codes } = encode([user('go'), call('a'), assistant('Wait.'), output('a')])
    expect(messages).toMatchObject([{}, { content: 'Wait.', tool_calls: [{ id: 'a' }] }, {}])
    expect(codes).toEqual(['text-moved'])
  })

  test('calls with the same id in one answer get different ids', () => {
    const items = [user('go'), call('a'), call('a'), output('a', 'one'), output('a', 'two')]
    const { messages, codes } = encode(items)
    expect(messages).toMatchObject([
      {},
      { tool_calls: [{ id: 'a' }, {}] },
      { tool_call_id: 'a', content: 'one' },
      { content: 'two' },
    ])
    expect(codes).toEqual(['call-id-changed'])
  })

  test('calls with an id that is too long get a shorter one, which is the same in every request', () => {
    const long = 'toolu_'.repeat(10)
    const items = [user('go'), call(long), output(long)]
    const idIn = (all: readonly Item[]) =>
      (encode(all).messages as { tool_call_id?: string }[])[2]?.tool_call_id
    expect(idIn(items)).toMatch(/^[0-9a-zA-Z]{9}$/)
    expect(idIn([...items, user('more')])).toBe(idIn(items))
  })

  test('missing calls cause their outputs to be dropped', () => {
    const { messages, notes } = encode([user('go'), output('zz'), assistant('so')])
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    expect(notes).toEqual([{ did: 'dropped', why: 'output-without-call', by: 'chat', at: 1 }])
  })

  test('calls of custom tools are wrapped as functions unless the upstream knows custom tools', () => {
    const items = talk`
      user: go
      custom a sh ls "x"
      custom-output a one
    `
    const wrapped = encode(items)
    expect(wrapped.messages).toMatchObject([
      {},
      { tool_calls: [toolCall('a', 'sh', '{"input":"ls \\"x\\""}')] },
      { role: 'tool', content: 'one' },
    ])
    expect(wrapped.codes).toEqual(['custom-call-as-function'])
    expect(encode(items, {}, { customTools: true }).messages).toMatchObject([
      {},
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls "x"' } }] },
      {},
    ])
  })
})

test('items of hosted tools are dropped without splitting the message around them', () => {
  const items = talk`
    user: go
    assistant: Wait.
    hosted web_search_call
    call a
    output a one
  `
  const { messages, notes } = encode(items)
  expect(messages).toMatchObject([{}, { content: 'Wait.', tool_calls: [{ id: 'a' }] }, {}])
  expect(notes).toEqual([
    { did: 'dropped', why: 'hosted-item', by: 'chat', at: 2, detail: 'web_search_call' },
  ])
})

describe('reasoning in Chat Completions requests', () => {
  const items = [
    user('go'),
    reasoning('Hm'),
    assistant('so'),
    reasoning('Aha'),
    call('a'),
    output('a'),
  ]
  const fields = (quirks: Parameters<typeof encode>[2]) =>
    (
      encode(items, {}, quirks).messages as {
        reasoning_content?: string
        reasoning?: string
      }[]
    ).map(({ reasoning_content, reasoning }) => reasoning_content ?? reasoning ?? null)

  test('reasoning is not sent to an upstream that is not known to accept it', () => {
    expect(fields({})).toEqual([null, null, null])
    expect(encode(items).codes).toEqual(['reasoning-not-sent', 'reasoning-not-sent'])
  })

  test('reasoning is sent in the configured field of the message that it led to', () => {
    expect(fields({ reasoningField: 'reasoning_content' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning_details' })).toEqual([null, 'Hm\n\nAha', null])
  })

  test('reasoning is sent only with calls if `reasoningOn` is calls', () => {
    const only = { reasoningField: 'reasoning_content', reasoningOn: 'calls' }
    const two = [user('go'), reasoning('Hm'), assistant('so'), user('and?'), ...items.slice(3)]
    expect(encode(two, {}, only).messages).toMatchObject([
      {},
      { content: 'so' },
      {},
      { reasoning_content: 'Aha' },
      {},
    ])
    expect(encode(two, {}, only).codes).toEqual(['reasoning-not-sent'])
  })

  test('reasoning is a content part for Mistral', () => {
    const { messages } = encode(
      [user('go'), reasoning('Hm'), assistant('so')],
      {},
      {
        reasoningField: 'thinking-part',
      },
    )
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
          { type: 'text', text: 'so' },
        ],
      },
    ])
  })

  test('reasoning details are sent back unchanged, from all items of the message', () => {
    const one = { type: 'reasoning.text', text: 'Hm', signature: 's', index: 0 }
    const late = { type: 'reasoning.encrypted', data: 'x', index: 1 }
    const { messages, notes } = encode([
      user('go'),
      reasoning('Hm', { reasoning_details: [one] }),
      { ...assistant('so'), native: { chat: { reasoning_details: [late] } } },
    ])
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'so', reasoning_details: [one, late] },
    ])
    expect(notes).toEqual([])
  })

  test('reasoning that is encrypted or led to no message is dropped with a note', () => {
    const sealed: Item = { type: 'reasoning', summary: [], encrypted_content: 'x' }
    const quirks = { reasoningField: 'reasoning' }
    expect(encode([user('go'), sealed, assistant('so')], {}, quirks).codes).toEqual([
      'reasoning-sealed',
    ])
    expect(encode([user('go'), reasoning('Hm'), user('well?')], {}, quirks).codes).toEqual([
      'reasoning-without-follower',
    ])
  })
})

test('refusals are sent in their own field, and annotations are dropped', () => {
  const refused = assistant({ type: 'refusal', refusal: 'No.' })
  const cited = assistant({
    type: 'output_text',
    text: 'a',
    annotations: [{ type: 'url_citation' }],
  })
  const { messages, codes } = encode([user('go'), refused, user('please'), cited])
  expect(messages).toMatchObject([
    {},
    { content: null, refusal: 'No.' },
    {},
    { role: 'assistant', content: 'a' },
  ])
  expect(codes).toEqual(['annotations-not-sent'])
})
