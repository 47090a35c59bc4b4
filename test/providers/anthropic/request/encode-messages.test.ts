import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { assistant, call, contentAt, encode, look, output, user } from '../kit.ts'

const text = (text: string) => ({ type: 'text', text })

describe('sending tool calls to Anthropic', () => {
  test('the outputs of parallel calls are one message, before any other content', () => {
    const items = [
      user('go'),
      call('a'),
      call('b'),
      user('hurry'),
      output('b', 'B'),
      output('a', 'A'),
    ]
    const { body, codes } = encode(items, { tools: [look()] })
    expect(contentAt(body, 2)).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'A' },
      { type: 'tool_result', tool_use_id: 'b', content: 'B' },
      text('hurry'),
    ])
    expect(codes).toEqual(['output-moved', 'output-moved'])
  })

  test('a call comes after the text of its turn', () => {
    const items = [user('go'), call('a'), assistant('I look.'), output('a')]
    expect(contentAt(encode(items).body, 1)).toEqual([
      text('I look.'),
      { type: 'tool_use', id: 'a', name: 'look', input: {} },
    ])
  })

  test('a call without an output gets an error, an output without a call is left out', () => {
    const { body, codes } = encode([user('go'), call('a'), output('b')], { tools: [look()] })
    expect(contentAt(body, 2)).toMatchObject([{ tool_use_id: 'a', is_error: true }])
    expect(codes).toEqual(['output-missing', 'output-without-call'])
  })

  test('a failed output stays an error, and its images stay inside the result', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const
    const failed: Item & { is_error: boolean } = {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_text', text: 'see' }, image],
      is_error: true,
    }
    expect(contentAt(encode([user('go'), call('a'), failed]).body, 2)).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          text('see'),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
        is_error: true,
      },
    ])
  })

  test.each([
    ['', {}, []],
    ['{"a":', { arguments: '{"a":' }, ['arguments-not-an-object']],
    ['[1]', { arguments: '[1]' }, ['arguments-not-an-object']],
  ])('arguments %j of a tool call are sent as an object', (args, input, expected) => {
    const { body, codes } = encode([user('go'), call('a', 'look', args), output('a')], {
      tools: [look()],
    })
    expect(contentAt(body, 1)).toMatchObject([{ input }])
    expect(codes).toEqual(expected)
  })

  test('an invalid call id is always replaced by the same id', () => {
    const items = [user('go'), call('functions.look:0'), output('functions.look:0')]
    const { body, codes } = encode(items, { tools: [look()] })
    expect(contentAt(body, 1)).toMatchObject([{ id: 'call_9a3a9af1' }])
    expect(contentAt(body, 2)).toMatchObject([{ tool_use_id: 'call_9a3a9af1' }])
    expect(codes).toEqual(['call-id-changed'])
  })

  test('a repeated call id gets a different id', () => {
    const again = [call('0'), output('0'), call('0'), output('0')]
    const { body } = encode([user('go'), ...again])
    const second = contentAt(body, 3) as readonly { id: string }[]
    expect(contentAt(body, 1)).toMatchObject([{ id: '0' }])
    expect(second[0]?.id).toMatch(/^call_[0-9a-f]{8}_2$/)
    expect(contentAt(body, 4)).toMatchObject([{ tool_use_id: second[0]?.id }])
  })

  test('a custom call is encoded with its input as one string', () => {
    const items: Item[] = [
      user('go'),
      { type: 'custom_tool_call', call_id: 'a', name: 'grep', input: 'so' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'here' },
    ]
    expect(contentAt(encode(items).body, 1)).toEqual([
      { type: 'tool_use', id: 'a', name: 'grep', input: { input: 'so' } },
    ])
  })
})
