/** Encodes parameters as Chat Completions fields, with a note for each that has no field. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import { functionTool, promptOf, encode, encodePrompt, user } from '../kit.ts'

function encodeFields(params: Partial<PromptParameters>, quirks: JsonObject = {}): JsonObject {
  const { model: _model, messages: _messages, ...rest } = encode([user('hi')], params, quirks).body
  return rest
}

function listNotes(params: Partial<PromptParameters>, quirks: JsonObject = {}): readonly string[] {
  return encode([user('hi')], params, quirks).notes.map(({ why, field }) => `${why} ${field}`)
}

test('a chat request has no field for a parameter that is not set', () => {
  expect(encode([user('hi')]).body).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
  })
})

test('each parameter is sent in its Chat Completions field', () => {
  expect(
    encodeFields({
      tools: [functionTool()],
      parallelToolCalls: false,
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 9,
      stop: ['a'],
      seed: 0,
      presencePenalty: 1,
      frequencyPenalty: -1,
      topLogprobs: 2,
      format: { type: 'json_object' },
      verbosity: 'low',
      effort: 'high',
      serviceTier: 'flex',
      promptCacheKey: 'k',
      safetyIdentifier: 's',
      user: 'u',
      extra: { top_k: 3, logit_bias: { 5: 1 } },
    }),
  ).toEqual({
    tools: [{ type: 'function', function: { name: 'look' } }],
    parallel_tool_calls: false,
    temperature: 0,
    top_p: 0.5,
    max_completion_tokens: 9,
    stop: ['a'],
    seed: 0,
    presence_penalty: 1,
    frequency_penalty: -1,
    logprobs: true,
    top_logprobs: 2,
    response_format: { type: 'json_object' },
    verbosity: 'low',
    reasoning_effort: 'high',
    service_tier: 'flex',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    user: 'u',
    top_k: 3,
    logit_bias: { 5: 1 },
  })
})

test('usage is requested with a chat stream unless the upstream rejects `stream_options`', () => {
  const stream = (quirks: JsonObject) => encodePrompt(promptOf([user('hi')], {}, true), quirks)
  expect(stream({}).body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  const withoutUsage = stream({ refuses: ['stream_options'] })
  expect(withoutUsage.body['stream_options']).toBeUndefined()
  expect(withoutUsage.notes).toEqual([])
})

test('a JSON schema is nested in a chat request and keeps its `strict`', () => {
  const format = {
    type: 'json_schema',
    name: 'n',
    schema: {},
    strict: null,
    description: null,
  } as const
  expect(encodeFields({ format })).toEqual({
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
  })
  expect(encodeFields({ format: { ...format, strict: false, description: 'd' } })).toEqual({
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'n', description: 'd', schema: {}, strict: false },
    },
  })
})

test('a chat request can request log probabilities without alternatives', () => {
  expect(encodeFields({ include: ['message.output_text.logprobs'] })).toEqual({ logprobs: true })
  expect(encodeFields({ topLogprobs: 0 })).toEqual({ logprobs: true })
})

test('each parameter that Chat Completions does not have gets a note', () => {
  expect(
    listNotes({
      reasoningSummary: 'auto',
      include: ['reasoning.encrypted_content', 'x'],
      extra: { truncation: 'auto', top_k: 1 },
      stop: ['a', 'b', 'c', 'd', 'e'],
    }),
  ).toEqual([
    'stop-enforced stop',
    'parameter-unsupported reasoning.summary',
    'reasoning-unsealed include',
    'parameter-unsupported include',
    'parameter-unsupported truncation',
  ])
})

test("parameters of a chat request are sent in the fields that the account's quirks name", () => {
  const params = { maxOutputTokens: 9, effort: 'low' }
  expect(encodeFields(params, { profile: 'openrouter' })).toEqual({
    max_tokens: 9,
    reasoning: { effort: 'low' },
  })
  expect(encodeFields(params, { profile: 'mistral' })).toEqual({ max_tokens: 9 })
  expect(listNotes({ effort: 'low', user: 'u' }, { profile: 'mistral' })).toEqual([
    'parameter-refused reasoning_effort',
    'parameter-refused user',
  ])
})

describe('tools in Chat Completions requests', () => {
  const lark = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
  const shell = { type: 'custom', name: 'sh', description: 'Runs it.', format: lark } as const
  const hosted = { type: 'opaque', raw: { type: 'web_search' } } as const

  test('a tool in a chat request has `strict` only if it is true', () => {
    const tool = { ...functionTool(), strict: true, parameters: { type: 'object' } } as const
    expect(encodeFields({ tools: [tool] })).toEqual({
      tools: [
        {
          type: 'function',
          function: { name: 'look', parameters: { type: 'object' }, strict: true },
        },
      ],
    })
  })

  test('a custom tool is sent to a chat upstream as a function with the grammar in its description', () => {
    const { tools } = encodeFields({ tools: [shell] })
    expect(tools).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'sh',
          description: 'Runs it.\n\nThe input must follow this lark grammar:\nstart: "a"',
          parameters: { required: ['input'] },
        },
      },
    ])
    expect(encodeFields({ tools: [shell] }, { customTools: true })).toEqual({
      tools: [
        {
          type: 'custom',
          custom: {
            name: 'sh',
            description: 'Runs it.',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
          },
        },
      ],
    })
  })

  test('a chat request omits tools that another provider runs, and a tool choice without tools', () => {
    expect(
      encodeFields({ tools: [hosted], toolChoice: { type: 'required' }, parallelToolCalls: true }),
    ).toEqual({})
    expect(
      listNotes({ tools: [hosted], toolChoice: { type: 'required' }, parallelToolCalls: true }),
    ).toEqual(['hosted-tool tools[0]', 'tool-choice-without-tools tool_choice'])
  })

  test('each form of tool choice is encoded for Chat Completions with the names of its tools', () => {
    const choice = (toolChoice: PromptParameters['toolChoice'], quirks: JsonObject = {}) =>
      encodeFields({ tools: [functionTool(), shell], toolChoice }, quirks)['tool_choice']
    expect(choice({ type: 'none' })).toBe('none')
    expect(choice({ type: 'function', name: 'look' })).toEqual({
      type: 'function',
      function: { name: 'look' },
    })
    expect(choice({ type: 'custom', name: 'sh' })).toEqual({
      type: 'function',
      function: { name: 'sh' },
    })
    expect(choice({ type: 'custom', name: 'sh' }, { customTools: true })).toEqual({
      type: 'custom',
      custom: { name: 'sh' },
    })
    expect(choice({ type: 'opaque', raw: { type: 'mcp' } })).toBeUndefined()
  })

  test('tools that the tool choice does not allow are not sent to a chat upstream without `allowed_tools`', () => {
    const tools = [functionTool('a'), functionTool('b')]
    const toolChoice = { type: 'allowed', mode: 'required', names: ['a'] } as const
    expect(encodeFields({ tools, toolChoice })).toEqual({
      tools: [{ type: 'function', function: { name: 'a' } }],
      tool_choice: 'required',
    })
    expect(listNotes({ tools, toolChoice })).toEqual(['allowed-tools-filtered tools'])
    expect(encodeFields({ tools, toolChoice }, { allowedTools: true })).toMatchObject({
      tools: [{ function: { name: 'a' } }, { function: { name: 'b' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
    })
  })
})
