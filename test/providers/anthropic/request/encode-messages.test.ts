import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { assistant, call, contentAt, encode, look, output, user } from '../kit.ts'

const text = (text: string) => ({ type: 'text', text })

describe('tool calls in Anthropic requests', () => {
  test('the outputs of parallel calls begin one Anthropic message, before any other content', () => {
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

  test('a tool call is sent to Anthropic after the text of its message', () => {
    const items = [user('go'), call('a'), assistant('I look.'), output('a')]
    expect(contentAt(encode(items).body, 1)).toEqual([
      text('I look.'),
      { type: 'tool_use', id: 'a', name: 'look', input: {} },
    ])
  })

  test('an Anthropic request has an error result for a call without an output, and no output without a call', () => {
    const { body, codes } = encode([user('go'), call('a'), output('b')], { tools: [look()] })
    expect(contentAt(body, 2)).toMatchObject([{ tool_use_id: 'a', is_error: true }])
    expect(codes).toEqual(['output-missing', 'output-without-call'])
  })

  test('a failed tool output is sent to Anthropic as an error, with its images inside the result', () => {
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
  ])('tool call arguments %j are sent to Anthropic as the object %j', (args, input, expected) => {
    const { body, codes } = encode([user('go'), call('a', 'look', args), output('a')], {
      tools: [look()],
    })
    expect(contentAt(body, 1)).toMatchObject([{ input }])
    expect(codes).toEqual(expected)
  })

  test('an invalid call id is always replaced by the same id in Anthropic requests', () => {
    const items = [user('go'), call('functions.look:0'), output('functions.look:0')]
    const { body, codes } = encode(items, { tools: [look()] })
    expect(contentAt(body, 1)).toMatchObject([{ id: 'call_9a3a9af1' }])
    expect(contentAt(body, 2)).toMatchObject([{ tool_use_id: 'call_9a3a9af1' }])
    expect(codes).toEqual(['call-id-changed'])
  })

  test('a call with the id of an earlier call gets another id in an Anthropic request', () => {
    const again = [call('0'), output('0'), call('0'), output('0')]
    const { body } = encode([user('go'), ...again])
    const second = contentAt(body, 3) as readonly { id: string }[]
    expect(contentAt(body, 1)).toMatchObject([{ id: '0' }])
    expect(second[0]?.id).toMatch(/^call_[0-9a-f]{8}_2$/)
    expect(contentAt(body, 4)).toMatchObject([{ tool_use_id: second[0]?.id }])
  })

  test('an output belongs to the latest call with its id, not to an earlier one that was never answered', () => {
    const { body, codes } = encode([user('go'), call('0'), user('stop'), call('0'), output('0')])
    const results = (body['messages'] as readonly { content: readonly { type: string }[] }[])
      .flatMap(({ content }) => content)
      .filter(({ type }) => type === 'tool_result')
    expect(results).toMatchObject([{ tool_use_id: '0', is_error: true }, { content: 'done' }])
    expect(codes).not.toContain('output-moved')
  })

  test('a custom tool call is sent to Anthropic with its input as one string', () => {
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
