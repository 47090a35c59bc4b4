import { describe, expect, test } from 'vitest'
import type { PromptParameters, Tool } from '../../../../src/core/prompt.ts'
import { ASK, call, encoded, look, output, sent } from '../kit.ts'

describe('tools', () => {
  test('of every kind', () => {
    const tools: readonly Tool[] = [
      { ...look(), description: 'Looks.' },
      { type: 'custom', name: 'grep', description: null, format: { type: 'text' } },
      { type: 'opaque', raw: { type: 'web_search_20250305', name: 'web_search' } },
      { type: 'opaque', raw: { type: 'file_search' } },
    ]
    const [defined, why] = sent({ tools }, 'tools')
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

  test('have an object at the root of their schema, without alternatives', () => {
    const parameters = {
      $defs: {},
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
    }
    expect(sent({ tools: [{ ...look(), parameters }] }, 'tools')).toEqual([
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

  test('are held to their schema only if the account wants it', () => {
    const parameters = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } }
    const tools = [{ ...look(), parameters, strict: true }]
    expect(encoded(ASK, { tools }).why).toEqual(['strict-not-enforced'])
    const { body, why } = encoded(ASK, { tools }, { strictTools: true, cacheControl: false })
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
    expect(why).toEqual([])
  })

  test('are defined and forbidden when only the history has calls', () => {
    const { body, why } = encoded([...ASK, call('a'), output('a'), call('b'), output('b')])
    expect(body).toMatchObject({ tools: [{ name: 'look' }], tool_choice: { type: 'none' } })
    expect(why).toEqual(['tools-stubbed'])
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
  ])('choice %j with parallel %j', (toolChoice, parallelToolCalls, choice) => {
    const params = { tools: [look()], toolChoice, parallelToolCalls }
    expect(sent(params, 'tool_choice')).toEqual([choice, []])
  })

  test('that are not allowed are not sent', () => {
    const toolChoice = { type: 'allowed', mode: 'required', names: ['b'] } as const
    expect(
      sent({ tools: [look('a'), look('b')], toolChoice }, 'tools', 'tool_choice'),
    ).toMatchObject([[{ name: 'b' }], { type: 'any' }, ['allowed-tools-filtered']])
  })

  test('that do not exist cannot be chosen', () => {
    expect(sent({ toolChoice: { type: 'required' } }, 'tool_choice')).toEqual([
      undefined,
      ['tool-choice-without-tools'],
    ])
  })
})
