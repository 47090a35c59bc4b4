import { describe, expect, test } from 'vitest'
import {
  readRecording,
  createScriptWithoutIdsAndOrigins,
} from '../../src/simulate/read-recording.ts'
import type { ConversationScript } from '../../src/simulate/conversation-script.ts'
import { show, talk } from '../support/talk.ts'

const read = (value: unknown) => readRecording(JSON.stringify(value), 'chats.json')
const told = ({ exchanges }: ConversationScript) =>
  exchanges.map(({ newItems, answer }) => [show(newItems), show(answer)])

const ITEMS = [
  { role: 'user', content: 'weather?' },
  { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' },
  { type: 'function_call_output', call_id: 'a', output: '4 degrees' },
  { role: 'assistant', content: 'cold' },
]
const MESSAGES = [
  { role: 'user', content: 'weather?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'a', content: '4 degrees' },
  { role: 'assistant', content: 'cold' },
]
const TOLD = [
  ['user: weather?', 'call a weather'],
  ['output a 4 degrees', 'assistant: cold'],
]

/** A page as the gateway renders it: the ids contain the turn and the index of the item. */
function createPage(items: readonly object[], hasMore = false) {
  const data = items.map((item) => {
    const index = ITEMS.findIndex((other) => other === item)
    return { ...item, id: `msg_01M7R8WH3CG7NWY4TNQS${index < 3 ? `I${index}` : '0'}` }
  })
  return {
    object: 'list',
    data,
    first_id: data[0]?.id,
    last_id: data.at(-1)?.id,
    has_more: hasMore,
  }
}

describe('reading a recording for the simulation', () => {
  test.each([
    ['a list of items', ITEMS],
    ['a body of a Responses request', { model: 'm', input: ITEMS }],
    ['a body with its answer', { input: ITEMS.slice(0, 3), output: ITEMS.slice(3) }],
    ['a body of a chat request', { model: 'm', messages: MESSAGES }],
    ['a page of items', { object: 'list', data: ITEMS, has_more: false }],
    ['a page of items, the latest first', createPage(ITEMS.toReversed())],
    ['a list of messages', MESSAGES],
  ])('a recorded conversation is read from %s', (_, value) => {
    expect(read(value).map(told)).toEqual([TOLD])
  })

  test('several recorded conversations are read from one list, and each is named by its index', () => {
    const scripts = read([ITEMS, { input: 'hello' }, { messages: MESSAGES }])
    expect(scripts.map(({ name }) => name)).toEqual([
      'chats.json[0]',
      'chats.json[1]',
      'chats.json[2]',
    ])
    expect(scripts.map(told)).toEqual([TOLD, [['user: hello', '']], TOLD])
  })

  test('several recorded conversations are read from a text with one conversation per line', () => {
    const lines = [ITEMS, { messages: MESSAGES }].map((each) => JSON.stringify(each))
    expect(readRecording(`${lines.join('\n')}\n`, 'x').map(told)).toEqual([TOLD, TOLD])
  })

  test('a recorded conversation starts with its instructions', () => {
    expect(read({ instructions: 'be brief', input: 'hello' }).map(told)).toEqual([
      [['system: be brief\nuser: hello', '']],
    ])
  })

  test.each([
    ['{', 'chats.json is not JSON'],
    ['"hello"', 'A recording is a list of items'],
    ['{"model": "m"}', 'A recording has `input`, `messages` or `data`'],
    ['[]', 'chats.json holds no items'],
    [
      JSON.stringify(createPage(ITEMS, true)),
      'A page of items must hold the complete conversation',
    ],
    ['[[{"role": "user", "content": "x"}], []]', 'chats.json[1] holds no items'],
    ['{"messages": [{"role": "nobody", "content": ""}]}', 'messages[0].role'],
    ['{"input": [{"role": "user", "content": 3}]}', 'input[0].content'],
  ])(
    'a recording with invalid content is rejected with the position of the error: %s',
    (text, sentence) => {
      expect(() => readRecording(text, 'chats.json')).toThrow(sentence)
    },
  )
})

describe('items of a recording in the simulation', () => {
  test('recorded items are simulated without their ids and origins', () => {
    const origin = { wire: 'anthropic', account: 'a', model: 'm', prefixHash: 'x' }
    const items = talk`user: hello`.map((item) => ({ ...item, id: 'msg_1', origin }))
    const [exchange] = createScriptWithoutIdsAndOrigins('x', items).exchanges
    expect(exchange?.newItems).toEqual(talk`user: hello`)
  })

  test('reasoning that another provider encrypted is treated as encrypted by the simulated provider', () => {
    const native = { anthropic: { signature: 'abc' } }
    const [signed, ours, plain] = [
      { type: 'reasoning', summary: [], native },
      { type: 'reasoning', summary: [], encrypted_content: 'anthropic:abc' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
    ] as const
    const [exchange] = createScriptWithoutIdsAndOrigins('x', [signed, ours, plain]).exchanges
    expect(exchange?.answer).toEqual([
      { ...signed, encrypted_content: `(${JSON.stringify(native)}` },
      { ...ours, encrypted_content: '(anthropic:abc' },
      plain,
    ])
  })
})
