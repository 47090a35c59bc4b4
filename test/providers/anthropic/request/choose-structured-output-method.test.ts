import { describe, expect, test } from 'vitest'
import { ASK, encoded, look, sent, system } from '../kit.ts'

describe('a structured answer', () => {
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

  test('is asked for by its schema, without the rules that cannot be enforced', () => {
    expect(sent({ format }, 'output_config')).toEqual([
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

  test('is asked for by a tool where the model knows nothing else', () => {
    const model = 'claude-3-7-sonnet-latest'
    expect(sent({ format, model }, 'tools', 'tool_choice', 'output_config')).toEqual([
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
    expect(sent({ format, model, tools: [look()] }, 'tool_choice')[0]).toMatchObject({
      type: 'any',
    })
  })

  test('without a schema is asked for in words', () => {
    const { body, why } = encoded([system('Be brief.'), ...ASK], {
      format: { type: 'json_object' },
    })
    expect(body['system']).toMatchObject([
      { text: 'Be brief.' },
      { text: expect.stringContaining('single JSON object') as string },
    ])
    expect(why).toEqual(['json-object-as-instruction'])
  })
})
