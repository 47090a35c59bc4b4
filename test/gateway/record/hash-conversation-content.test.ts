import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { predictItemsSentBack } from '../../../src/dialects/chat/predict-items-sent-back.ts'
import { parseMessages } from '../../../src/dialects/chat/parse/parse-messages.ts'
import { renderAssistantMessage } from '../../../src/dialects/chat/render/render-chat-completion.ts'
import {
  extendContentHash,
  hashHistory,
} from '../../../src/gateway/record/hash-conversation-content.ts'
import { assistant, user } from '../../store/turns.ts'

const call: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
const output: Item = { type: 'function_call_output', call_id: 'c', output: '1' }
const reasoning: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }
const hash = (...items: readonly Item[]) => extendContentHash('', items)

const anyText = fc.string({ maxLength: 6 })
const anyAnswer: fc.Arbitrary<readonly Item[]> = fc.array(
  fc.oneof(
    anyText.map(assistant),
    fc.constant(reasoning),
    fc
      .record({ call_id: fc.stringMatching(/^[a-z]{1,3}$/), arguments: anyText })
      .map((fields): Item => ({ type: 'function_call', name: 'f', ...fields })),
    anyText.map((refusal): Item => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'refusal', refusal }],
    })),
  ),
  { maxLength: 4 },
)

test('the content hash of an answer equals the hash of the message that a chat client sends back for it', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const { reasoning_content: _dropped, ...message } = renderAssistantMessage(answer)
      const sent = parseMessages([{ role: 'user', content: 'hi' }, message])
      expect(hash(...sent)).toBe(hash(user('hi'), ...predictItemsSentBack(answer)))
    }),
    { numRuns: 200 },
  )
})

describe('differences that do not change the content hash', () => {
  test.each<[string, Item, Item]>([
    ['its id', assistant('a'), { ...assistant('a'), id: 'msg_1' }],
    ['its status', call, { ...call, status: 'completed' }],
    [
      'wire-specific fields of an answer',
      call,
      { ...call, native: { chat: { $entry: { a: 1 } } } },
    ],
    [
      'annotations and probabilities',
      assistant('a'),
      {
        ...assistant('a'),
        content: [{ type: 'output_text', text: 'a', annotations: [{}], logprobs: [1] }],
      },
    ],
    [
      'the order of fields',
      { type: 'opaque', raw: { type: 't', a: 1, b: { c: 2, d: 3 } } },
      { type: 'opaque', raw: { b: { d: 3, c: 2 }, a: 1, type: 't', id: 'x' } },
    ],
  ])('the content hash of an item does not depend on this: %s', (_, one, other) =>
    expect(hash(one)).toBe(hash(other)),
  )

  test('the content hash of a conversation does not depend on reasoning or assistant messages without text', () => {
    expect(hash(reasoning, assistant(''), call)).toBe(hash(call))
  })
})

test('conversations with different texts, roles, names, parts, calls or outputs have different content hashes', () => {
  const contents: readonly (readonly Item[])[] = [
    [],
    [user('a')],
    [assistant('a')],
    [user('')],
    [user('a'), user('b')],
    [user('b'), user('a')],
    [user('a\nuser: b')],
    [{ ...user('a'), native: { chat: { name: 'ada' } } }],
    [{ ...user('a'), role: 'system' }],
    [
      {
        ...user('a'),
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://x/1' },
        ],
      },
    ],
    [call],
    [{ ...call, arguments: '{ }' }],
    [{ ...call, call_id: 'd' }],
    [output],
    [call, output],
    [{ ...output, output: [{ type: 'input_text', text: '1' }] }],
  ]
  expect(new Set(contents.map((items) => hash(...items))).size).toBe(contents.length)
})

test('extending the content hash at the end of an answer by the later items results in the hash of the complete list', () => {
  const items = [user('a'), reasoning, call, output, assistant('b'), user('c')]
  const { hash: complete, answerEnds } = hashHistory(items)
  expect(complete).toBe(hash(...items))
  expect(answerEnds).toEqual([
    { itemCount: 5, hash: hash(...items.slice(0, 5)) },
    { itemCount: 3, hash: hash(...items.slice(0, 3)) },
  ])
  for (const { itemCount, hash: before } of answerEnds) {
    expect(extendContentHash(before, items.slice(itemCount))).toBe(complete)
  }
})
