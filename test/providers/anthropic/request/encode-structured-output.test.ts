import { describe, expect, test } from 'vitest'
import { QUESTION, encode, look, fields, system } from '../kit.ts'

describe('structured output of Claude models', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1 }, at: { type: 'string', format: 'date' } },
    required: ['n'],
  }
  const format = {
    type: 'json_schema',
    name: 'answer',
    schema,
    strict: true,
    description: null,
  } as const

  test('a Claude model that supports schemas gets the schema without keywords that Anthropic cannot enforce', () => {
    expect(fields({ format }, 'output_config')).toEqual([
      {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { n: { type: 'integer' }, at: { type: 'string', format: 'date' } },
            required: ['n'],
            additionalProperties: false,
          },
        },
      },
      ['schema-loosened'],
    ])
  })

  test('a Claude model without schema support is forced to call a tool with the schema', () => {
    const model = 'claude-3-7-sonnet-latest'
    expect(fields({ format, model }, 'tools', 'tool_choice', 'output_config')).toEqual([
      [
        {
          name: 'backstory_json_answer',
          description: 'Gives the final answer.',
          input_schema: schema,
        },
      ],
      { type: 'tool', name: 'backstory_json_answer', disable_parallel_tool_use: true },
      undefined,
      ['format-as-tool'],
    ])
    expect(fields({ format, model, tools: [look()] }, 'tool_choice')[0]).toMatchObject({
      type: 'any',
    })
  })

  test('a Claude model gets an instruction to answer with JSON if the client sends no schema', () => {
    const { body, codes } = encode([system('Be brief.'), ...QUESTION], {
      format: { type: 'json_object' },
    })
    expect(body['system']).toMatchObject([
      { text: 'Be brief.' },
      { text: expect.stringContaining('single JSON object') as string },
    ])
    expect(codes).toEqual(['json-object-as-instruction'])
  })
})
