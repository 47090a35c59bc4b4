import { describe, expect, test } from 'vitest'
import type { PromptParameters, Tool } from '../../../../src/core/prompt.ts'
import { QUESTION, call, encode, look, output, fields } from '../kit.ts'

describe('tools in Anthropic requests', () => {
  test('function, custom and hosted tools are encoded for Anthropic', () => {
    const tools: readonly Tool[] = [
      { ...look(), description: 'Looks.' },
      { type: 'custom', name: 'grep', description: null, format: { type: 'text' } },
      { type: 'opaque', raw: { type: 'web_search_20250305', name: 'web_search' } },
      { type: 'opaque', raw: { type: 'file_search' } },
    ]
    const [defined, why] = fields({ tools }, 'tools')
    expect(defined).toEqual([
      { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } },
      {
        name: 'grep',
        input_schema: {
          type: 'object',
          properties: { input: { type: 'string', description: expect.any(String) as string } },
          required: ['input'],
          additionalProperties: false,
        },
      },
      { type: 'web_search_20250305', name: 'web_search' },
    ])
    expect(why).toEqual(['custom-tool-as-function', 'hosted-tool'])
  })

  test('a tool schema for Anthropic becomes an object without alternatives', () => {
    const parameters = {
      $defs: {},
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
    }
    expect(fields({ tools: [{ ...look(), parameters }] }, 'tools')).toEqual([
      [
        {
          name: 'look',
          input_schema: {
            $defs: {},
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: 'number' } },
          },
        },
      ],
      ['tool-schema-changed'],
    ])
  })

  test('a tool for Anthropic is strict only with the quirk strictTools', () => {
    const parameters = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } }
    const tools = [{ ...look(), parameters, strict: true }]
    expect(encode(QUESTION, { tools }).codes).toEqual(['strict-not-enforced'])
    const { body, codes } = encode(QUESTION, { tools }, { strictTools: true, cacheControl: false })
    expect(body['tools']).toEqual([
      {
        name: 'look',
        input_schema: {
          type: 'object',
          properties: { a: { type: 'number' } },
          additionalProperties: false,
        },
        strict: true,
      },
    ])
    expect(codes).toEqual([])
  })

  test('an Anthropic request without tools defines and forbids the tools that were called earlier', () => {
    const { body, codes } = encode([...QUESTION, call('a'), output('a'), call('b'), output('b')])
    expect(body).toMatchObject({ tools: [{ name: 'look' }], tool_choice: { type: 'none' } })
    expect(codes).toEqual(['tools-stubbed'])
  })

  test.each<readonly [PromptParameters['toolChoice'], boolean | null, unknown]>([
    [null, null, undefined],
    [null, true, undefined],
    [null, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'auto' }, null, { type: 'auto' }],
    [{ type: 'none' }, false, { type: 'none' }],
    [{ type: 'required' }, false, { type: 'any', disable_parallel_tool_use: true }],
    [{ type: 'function', name: 'look' }, null, { type: 'tool', name: 'look' }],
    [{ type: 'allowed', mode: 'auto', names: ['look'] }, null, { type: 'auto' }],
  ])(
    'the tool choice %j with parallel_tool_calls %j is sent to Anthropic as %j',
    (toolChoice, parallelToolCalls, choice) => {
      const params = { tools: [look()], toolChoice, parallelToolCalls }
      expect(fields(params, 'tool_choice')).toEqual([choice, []])
    },
  )

  test('tools that the tool choice does not allow are not sent to Anthropic', () => {
    const toolChoice = { type: 'allowed', mode: 'required', names: ['b'] } as const
    expect(
      fields({ tools: [look('a'), look('b')], toolChoice }, 'tools', 'tool_choice'),
    ).toMatchObject([[{ name: 'b' }], { type: 'any' }, ['allowed-tools-filtered']])
  })

  test('a tool choice without tools is not sent to Anthropic', () => {
    expect(fields({ toolChoice: { type: 'required' } }, 'tool_choice')).toEqual([
      undefined,
      ['tool-choice-without-tools'],
    ])
  })
})
