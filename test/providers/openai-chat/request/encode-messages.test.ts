/** Encodes a conversation as chat messages: items that belong together in one message, notes for losses. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { talk } from '../../../support/talk.ts'
import { assistant, call, message, output, encode, reasoning, toolCall, user } from '../kit.ts'

test('instructions become the first chat message, and text becomes a plain string', () => {
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

test('a developer message is sent as system unless the chat upstream accepts the role developer', () => {
  const items = [message('developer', 'Be brief.'), user('hi')]
  expect(encode(items).messages).toMatchObject([{ role: 'system' }, { role: 'user' }])
  expect(encode(items).codes).toEqual(['developer-as-system'])
  expect(encode(items, {}, { developerRole: true }).messages).toMatchObject([
    { role: 'developer' },
    { role: 'user' },
  ])
})

test("an assistant's text parts are joined without a separator, and input text parts with line breaks", () => {
  const { messages, codes } = encode([user('a', 'b'), assistant('c', 'd')])
  expect(messages).toEqual([
    { role: 'user', content: 'a\nb' },
    { role: 'assistant', content: 'cd' },
  ])
  expect(codes).toEqual(['text-joined'])
})

describe('tool calls in Chat Completions requests', () => {
  test('tool calls of one answer become one chat message with the text before them', () => {
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

  test('tool calls of successive answers become separate chat messages', () => {
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

  test('tool outputs are moved directly after their calls if other messages separate them', () => {
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

  test('tool calls of one answer become one chat message with the text after them', () => {
    const { messages, codes } = encode([user('go'), call('a'), assistant('Wait.'), output('a')])
    expect(messages).toMatchObject([{}, { content: 'Wait.', tool_calls: [{ id: 'a' }] }, {}])
    expect(codes).toEqual(['text-moved'])
  })

  test('tool calls with the same id in one answer get different ids in a chat request', () => {
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

  test('a too long call id is replaced by a shorter id that is the same in every chat request', () => {
    const long = 'toolu_'.repeat(10)
    const items = [user('go'), call(long), output(long)]
    const idIn = (all: readonly Item[]) =>
      (encode(all).messages as { tool_call_id?: string }[])[2]?.tool_call_id
    expect(idIn(items)).toMatch(/^[0-9a-zA-Z]{9}$/)
    expect(idIn([...items, user('more')])).toBe(idIn(items))
  })

  test('a tool output without its call is dropped from a chat request', () => {
    const { messages, notes } = encode([user('go'), output('zz'), assistant('so')])
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    expect(notes).toEqual([{ did: 'dropped', why: 'output-without-call', by: 'chat', at: 1 }])
  })

  test('custom tool calls are sent as function calls unless the chat upstream supports custom tools', () => {
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

test('items of hosted tools are dropped from a chat request without splitting the message around them', () => {
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

  test('reasoning is not sent to a chat upstream without a quirk that allows it', () => {
    expect(fields({})).toEqual([null, null, null])
    expect(encode(items).codes).toEqual(['reasoning-not-sent', 'reasoning-not-sent'])
  })

  test('reasoning is sent in the field that the quirk `reasoningField` names, with the message after it', () => {
    expect(fields({ reasoningField: 'reasoning_content' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning_details' })).toEqual([null, 'Hm\n\nAha', null])
  })

  test('the quirk `reasoningOn: calls` sends reasoning only with tool calls', () => {
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

  test('reasoning is sent to Mistral as a content part', () => {
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

  test('the `reasoning_details` of all items of a message are sent back unchanged', () => {
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

  test('reasoning that is encrypted or has no message after it is dropped from a chat request with a note', () => {
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

test('a chat request sends refusals in their own field and omits annotations', () => {
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
