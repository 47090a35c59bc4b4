/** A conversation told in chat's words: one message for what belongs together, and a note for losses. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { talk } from '../../../support/talk.ts'
import { assistant, call, message, output, send, thought, toolCall, user } from '../kit.ts'

test('instructions stand in front, and text alone is a plain string', () => {
  expect(
    send([message('system', 'Be kind.'), user('hi'), assistant('ho')], {
      instructions: 'Be brief.',
    }).messages,
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ho' },
  ])
})

test('a developer speaks as the system where the role is not known', () => {
  const items = [message('developer', 'Be brief.'), user('hi')]
  expect(send(items).messages).toMatchObject([{ role: 'system' }, { role: 'user' }])
  expect(send(items).whys).toEqual(['developer-as-system'])
  expect(send(items, {}, { developerRole: true }).messages).toMatchObject([
    { role: 'developer' },
    { role: 'user' },
  ])
})

test('what a model said is one text, what it is told in several pieces is a line each', () => {
  const { messages, whys } = send([user('a', 'b'), assistant('c', 'd')])
  expect(messages).toEqual([
    { role: 'user', content: 'a\nb' },
    { role: 'assistant', content: 'cd' },
  ])
  expect(whys).toEqual(['text-joined'])
})

describe('calls', () => {
  test('of one answer are one message with the words in front of them', () => {
    const items = talk`
      user: go
      assistant: Wait.
      call a look {"x":1}
      call b look
      output a one
      output b two
    `
    expect(send(items).messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Wait.',
        tool_calls: [toolCall('a', 'look', '{"x":1}'), toolCall('b')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
    ])
    expect(send(items).notes).toEqual([])
  })

  test('one after the other are messages of their own', () => {
    const items = talk`
      user: go
      call a
      output a one
      call b
      output b two
    `
    expect(send(items).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
      { role: 'tool' },
      { role: 'assistant', tool_calls: [{ id: 'b' }] },
      { role: 'tool' },
    ])
  })

  test('get their outputs back from behind whatever came between', () => {
    const items = talk`
      user: go
      call a
      user: hurry
      output a one
      assistant: done
    `
    const { messages, notes } = send(items)
    expect(messages).toMatchObject([
      { role: 'user', content: 'go' },
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'user', content: 'hurry' },
      { role: 'assistant' },
    ])
    expect(notes).toEqual([{ did: 'moved', why: 'output-moved', by: 'chat', at: 3 }])
  })

  test('take the text that came behind them along', () => {
    const { messages, whys } = send([user('go'), call('a'), assistant('Wait.'), output('a')])
    expect(messages).toMatchObject([{}, { content: 'Wait.', tool_calls: [{ id: 'a' }] }, {}])
    expect(whys).toEqual(['text-moved'])
  })

  test('under one id in one answer are told apart', () => {
    const items = [user('go'), call('a'), call('a'), output('a', 'one'), output('a', 'two')]
    const { messages, whys } = send(items)
    expect(messages).toMatchObject([
      {},
      { tool_calls: [{ id: 'a' }, {}] },
      { tool_call_id: 'a', content: 'one' },
      { content: 'two' },
    ])
    expect(whys).toEqual(['call-id-changed'])
  })

  test('with an id that is too long get a shorter one, the same in every request', () => {
    const long = 'toolu_'.repeat(10)
    const items = [user('go'), call(long), output(long)]
    const idIn = (all: readonly Item[]) =>
      (send(all).messages as { tool_call_id?: string }[])[2]?.tool_call_id
    expect(idIn(items)).toMatch(/^[0-9a-zA-Z]{9}$/)
    expect(idIn([...items, user('more')])).toBe(idIn(items))
  })

  test('that nobody made have no output either', () => {
    const { messages, notes } = send([user('go'), output('zz'), assistant('so')])
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    expect(notes).toEqual([{ did: 'dropped', why: 'output-without-call', by: 'chat', at: 1 }])
  })

  test('for free text are wrapped, or stay what they are where that is known', () => {
    const items = talk`
      user: go
      custom a sh ls "x"
      custom-output a one
    `
    const wrapped = send(items)
    expect(wrapped.messages).toMatchObject([
      {},
      { tool_calls: [toolCall('a', 'sh', '{"input":"ls \\"x\\""}')] },
      { role: 'tool', content: 'one' },
    ])
    expect(wrapped.whys).toEqual(['custom-call-as-function'])
    expect(send(items, {}, { customTools: true }).messages).toMatchObject([
      {},
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls "x"' } }] },
      {},
    ])
  })
})

test('items of hosted tools are left out, and part nothing', () => {
  const items = talk`
    user: go
    assistant: Wait.
    hosted web_search_call
    call a
    output a one
  `
  const { messages, notes } = send(items)
  expect(messages).toMatchObject([{}, { content: 'Wait.', tool_calls: [{ id: 'a' }] }, {}])
  expect(notes).toEqual([
    { did: 'dropped', why: 'hosted-item', by: 'chat', at: 2, detail: 'web_search_call' },
  ])
})

describe('reasoning', () => {
  const items = [user('go'), thought('Hm'), assistant('so'), thought('Aha'), call('a'), output('a')]
  const fields = (quirks: Parameters<typeof send>[2]) =>
    (send(items, {}, quirks).messages as { reasoning_content?: string; reasoning?: string }[]).map(
      ({ reasoning_content, reasoning }) => reasoning_content ?? reasoning ?? null,
    )

  test('is not sent to an upstream that is not known to take it', () => {
    expect(fields({})).toEqual([null, null, null])
    expect(send(items).whys).toEqual(['reasoning-not-sent', 'reasoning-not-sent'])
  })

  test('goes with the message it led to, in the field of the upstream', () => {
    expect(fields({ reasoningField: 'reasoning_content' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning' })).toEqual([null, 'Hm\n\nAha', null])
    expect(fields({ reasoningField: 'reasoning_details' })).toEqual([null, 'Hm\n\nAha', null])
  })

  test('goes with calls only, where more is not wanted', () => {
    const only = { reasoningField: 'reasoning_content', reasoningOn: 'calls' }
    const two = [user('go'), thought('Hm'), assistant('so'), user('and?'), ...items.slice(3)]
    expect(send(two, {}, only).messages).toMatchObject([
      {},
      { content: 'so' },
      {},
      { reasoning_content: 'Aha' },
      {},
    ])
    expect(send(two, {}, only).whys).toEqual(['reasoning-not-sent'])
  })

  test('is a part of the content for Mistral', () => {
    const { messages } = send(
      [user('go'), thought('Hm'), assistant('so')],
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

  test('in details goes back unchanged, from all that belongs to the message', () => {
    const one = { type: 'reasoning.text', text: 'Hm', signature: 's', index: 0 }
    const late = { type: 'reasoning.encrypted', data: 'x', index: 1 }
    const { messages, notes } = send([
      user('go'),
      thought('Hm', { reasoning_details: [one] }),
      { ...assistant('so'), native: { chat: { reasoning_details: [late] } } },
    ])
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'so', reasoning_details: [one, late] },
    ])
    expect(notes).toEqual([])
  })

  test('that nobody can read here, or that led to nothing, is left out with a note', () => {
    const sealed: Item = { type: 'reasoning', summary: [], encrypted_content: 'x' }
    const quirks = { reasoningField: 'reasoning' }
    expect(send([user('go'), sealed, assistant('so')], {}, quirks).whys).toEqual([
      'reasoning-sealed',
    ])
    expect(send([user('go'), thought('Hm'), user('well?')], {}, quirks).whys).toEqual([
      'reasoning-without-follower',
    ])
  })
})

test('refusals have a field of their own; annotations are about a text and stay behind', () => {
  const refused = assistant({ type: 'refusal', refusal: 'No.' })
  const cited = assistant({
    type: 'output_text',
    text: 'a',
    annotations: [{ type: 'url_citation' }],
  })
  const { messages, whys } = send([user('go'), refused, user('please'), cited])
  expect(messages).toMatchObject([
    {},
    { content: null, refusal: 'No.' },
    {},
    { role: 'assistant', content: 'a' },
  ])
  expect(whys).toEqual(['annotations-not-sent'])
})
