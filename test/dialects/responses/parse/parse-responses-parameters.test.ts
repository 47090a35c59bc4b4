import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { parseBody } from '../../../support/responses-kit.ts'
import { NO_PARAMS } from '../../../support/empty-parameters.ts'

function parseParams(body: JsonObject) {
  return parseBody({ model: 'm', input: 'go', ...body }).params
}

function readFailure(body: JsonObject) {
  try {
    parseParams(body)
  } catch (error) {
    if (error instanceof GatewayError) return error.failure
    throw error
  }
  return null
}

test('parameters of a Responses request that are not set have their defaults', () => {
  expect(parseParams({})).toEqual(NO_PARAMS)
})

test('a parameter with the value null in a Responses request counts as not set', () => {
  const nulls = Object.fromEntries(
    `instructions tools tool_choice parallel_tool_calls temperature top_p max_output_tokens stop
    seed presence_penalty frequency_penalty top_logprobs text reasoning service_tier user include
    prompt_cache_key safety_identifier metadata store background previous_response_id conversation
    stream truncation max_tool_calls`
      .split(/\s+/)
      .map((name) => [name, null]),
  )
  expect(parseParams(nulls)).toEqual(parseParams({}))
})

test('0, false and the empty string count as set parameters of a Responses request', () => {
  const params = parseParams({
    temperature: 0,
    top_logprobs: 0,
    parallel_tool_calls: false,
    instructions: '',
    seed: 0,
  })
  expect(params).toMatchObject({
    temperature: 0,
    topLogprobs: 0,
    parallelToolCalls: false,
    instructions: '',
    seed: 0,
  })
})

test('a function tool of a Responses request is strict by default', () => {
  const search = { type: 'web_search' }
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
  const { tools } = parseParams({
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object' } },
      { type: 'function', name: 'g', description: 'd', parameters: null, strict: false },
      { type: 'custom', name: 'c', format: grammar },
      search,
    ],
  })
  expect(tools).toEqual([
    {
      type: 'function',
      name: 'f',
      description: null,
      parameters: { type: 'object' },
      strict: true,
    },
    { type: 'function', name: 'g', description: 'd', parameters: null, strict: false },
    { type: 'custom', name: 'c', description: null, format: grammar },
    { type: 'opaque', raw: search },
  ])
})

const MCP = { type: 'mcp', server_label: 'files' }
const MIXED = { type: 'allowed_tools', mode: 'auto', tools: [MCP] }

test.each([
  ['auto', { type: 'auto' }],
  ['none', { type: 'none' }],
  ['required', { type: 'required' }],
  [
    { type: 'function', name: 'f' },
    { type: 'function', name: 'f' },
  ],
  [
    { type: 'function', function: { name: 'f' } },
    { type: 'function', name: 'f' },
  ],
  [
    { type: 'custom', name: 'c' },
    { type: 'custom', name: 'c' },
  ],
  [
    {
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'c' },
      ],
    },
    { type: 'allowed', mode: 'required', names: ['f', 'c'] },
  ],
  [
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    { type: 'allowed', mode: 'auto', names: ['f'] },
  ],
  [MIXED, { type: 'opaque', raw: MIXED }],
  [MCP, { type: 'opaque', raw: MCP }],
])('the tool choice %j of a Responses request is parsed', (tool_choice, choice) => {
  expect(parseParams({ tool_choice }).toolChoice).toEqual(choice)
})

test('`text` and `reasoning` of a Responses request are parsed, and their unknown fields are collected by path', () => {
  const schema = { type: 'object' }
  const params = parseParams({
    text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto', context: 'all_turns' },
  })
  expect(params).toMatchObject({
    format: { type: 'json_schema', name: 'n', schema, strict: true, description: null },
    verbosity: 'low',
    effort: 'high',
    reasoningSummary: 'auto',
    extra: { 'reasoning.context': 'all_turns' },
  })
  expect(parseParams({ text: {} }).format).toBeNull()
  expect(parseParams({ text: { format: { type: 'json_object' } } }).format).toEqual({
    type: 'json_object',
  })
})

test('parameters of Chat Completions are parsed in a Responses request too', () => {
  expect(
    parseParams({ reasoning_effort: 'low', stop: 'END', seed: 7, presence_penalty: -2, top_k: 40 }),
  ).toMatchObject({
    effort: 'low',
    stop: ['END'],
    seed: 7,
    presencePenalty: -2,
    extra: { top_k: 40 },
  })
  expect(parseParams({ reasoning: { effort: 'high' }, reasoning_effort: 'low' }).effort).toBe(
    'high',
  )
})

test('unknown parameters of a Responses request are collected in `extra`', () => {
  const client_metadata = { a: [1, null] }
  const { extra } = parseParams({ client_metadata, moderation: 'auto', __proto__x: 1 })
  expect(extra).toEqual({ client_metadata, moderation: 'auto', __proto__x: 1 })
})

test('a field `__proto__` of a Responses request is an ordinary unknown parameter', () => {
  const body = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as JsonObject
  const { extra } = parseParams(body)
  expect(Object.keys(extra).toSorted()).toEqual(['__proto__', 'constructor'])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test.each([
  [{ model: undefined }, 'missing_required_parameter', 'model'],
  [{ model: 5 }, 'invalid_type', 'model'],
  [{ temperature: -1 }, 'decimal_below_min_value', 'temperature'],
  [{ temperature: 2.1 }, 'decimal_above_max_value', 'temperature'],
  [{ temperature: '1' }, 'invalid_type', 'temperature'],
  [{ top_p: 1.5 }, 'decimal_above_max_value', 'top_p'],
  [{ max_output_tokens: 0 }, 'integer_below_min_value', 'max_output_tokens'],
  [{ max_output_tokens: 1.5 }, 'invalid_type', 'max_output_tokens'],
  [{ top_logprobs: 21 }, 'integer_above_max_value', 'top_logprobs'],
  [{ frequency_penalty: 3 }, 'decimal_above_max_value', 'frequency_penalty'],
  [{ tools: [{ name: 'f' }] }, 'missing_required_parameter', 'tools[0].type'],
  [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
  [
    { tools: [{ type: 'function', name: 'f', parameters: [] }] },
    'invalid_type',
    'tools[0].parameters',
  ],
  [{ tool_choice: 'any' }, 'invalid_value', 'tool_choice'],
  [{ tool_choice: 5 }, 'invalid_type', 'tool_choice'],
  [
    { tool_choice: { type: 'allowed_tools', tools: [] } },
    'missing_required_parameter',
    'tool_choice.mode',
  ],
  [{ tool_choice: { type: 'function' } }, 'missing_required_parameter', 'tool_choice.name'],
  [
    { tool_choice: { type: 'allowed_tools', mode: 'none', tools: [] } },
    'invalid_value',
    'tool_choice.mode',
  ],
  [
    { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: ['f'] } },
    'invalid_type',
    'tool_choice.tools[0]',
  ],
  [{ text: { format: { type: 'xml' } } }, 'invalid_value', 'text.format.type'],
  [
    { text: { format: { type: 'json_schema', name: 'n' } } },
    'missing_required_parameter',
    'text.format.schema',
  ],
  [{ reasoning: 'high' }, 'invalid_type', 'reasoning'],
  [{ reasoning: { effort: 1 } }, 'invalid_type', 'reasoning.effort'],
  [{ include: 'all' }, 'invalid_type', 'include'],
  [{ include: [1] }, 'invalid_type', 'include[0]'],
  [{ stop: [1] }, 'invalid_type', 'stop[0]'],
])('the Responses parameters %j are rejected with %s at %s', (body, code, param) => {
  expect(readFailure(body as JsonObject)).toMatchObject({ status: 400, code, param })
})

test("a number outside of its range in a Responses request is rejected with OpenAI's message", () => {
  expect(readFailure({ temperature: -1 })?.message).toBe(
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  )
})

test('an output limit of one token is accepted in a Responses request, because some clients test a model with it', () => {
  expect(parseParams({ max_output_tokens: 1 }).maxOutputTokens).toBe(1)
})
