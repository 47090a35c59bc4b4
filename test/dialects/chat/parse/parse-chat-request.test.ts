import { describe, expect, test } from 'vitest'
import { DEFAULT_CLIENT_TRAITS } from '../../../../src/core/client/client-traits.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { readShared, sharedExists } from '../../../support/shared-files.ts'
import { HI, parse, readFailure } from '../kit.ts'
import { NO_PARAMS } from '../../../support/empty-parameters.ts'

function params(more: JsonObject) {
  return parse({ model: 'm', messages: HI, ...more }).params
}

test('an unset parameter of a chat request is null, and the answer is not stored by default', () => {
  const body = { model: 'm', messages: HI }
  const { bytes, ...request } = parse(body)
  expect(new TextDecoder().decode(bytes())).toBe(JSON.stringify(body))
  expect(request).toEqual({
    dialect: 'chat',
    stream: false,
    items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    params: NO_PARAMS,
    storage: {
      store: null,
      storeByDefault: false,
      previousResponseId: null,
      conversationId: null,
      background: false,
      metadata: {},
    },
    policyOverrides: null,
    generatesAnswer: true,
    overflow: null,
    client: DEFAULT_CLIENT_TRAITS,
    body,
  })
})

test('every known parameter of a chat request is parsed', () => {
  expect(
    params({
      parallel_tool_calls: false,
      temperature: 0,
      top_p: 1,
      max_tokens: 7,
      max_completion_tokens: 9,
      stop: 'END',
      seed: 0,
      presence_penalty: -2,
      frequency_penalty: 2,
      logprobs: true,
      top_logprobs: 3,
      verbosity: 'low',
      reasoning_effort: 'none',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      safety_identifier: 's',
      user: 'u',
    }),
  ).toMatchObject({
    parallelToolCalls: false,
    temperature: 0,
    topP: 1,
    maxOutputTokens: 9,
    stop: ['END'],
    seed: 0,
    presencePenalty: -2,
    frequencyPenalty: 2,
    topLogprobs: 3,
    verbosity: 'low',
    effort: 'none',
    serviceTier: 'flex',
    promptCacheKey: 'k',
    safetyIdentifier: 's',
    user: 'u',
    include: ['message.output_text.logprobs'],
    extra: {},
  })
})

test('a chat parameter that is null counts as not set, and max_tokens applies if max_completion_tokens is missing', () => {
  expect(params({ temperature: null, stop: null, max_tokens: 7, tools: null })).toMatchObject({
    temperature: null,
    stop: [],
    maxOutputTokens: 7,
    tools: [],
  })
})

test('unknown parameters of a chat request are collected in `extra`', () => {
  const extra = { n: 2, logit_bias: { 5: 1 }, audio: { voice: 'a' }, x: [1], modalities: ['text'] }
  expect(params({ ...extra, stream_options: { include_usage: true }, y: null }).extra).toEqual(
    extra,
  )
})

test("the reasoning effort of a chat request is read from OpenRouter's `reasoning` object, too", () => {
  expect(params({ reasoning: { effort: 'low', summary: 'auto' } })).toMatchObject({
    effort: 'low',
    reasoningSummary: 'auto',
    extra: {},
  })
  expect(params({ reasoning: { max_tokens: 9 } }).extra).toEqual({ reasoning: { max_tokens: 9 } })
})

test("OpenAI's response formats in a chat request are parsed, and other response formats are collected in `extra`", () => {
  const json_schema = { name: 'n', schema: { type: 'object' }, strict: true }
  expect(params({ response_format: { type: 'json_schema', json_schema } }).format).toEqual({
    type: 'json_schema',
    ...json_schema,
    description: null,
  })
  expect(params({ response_format: { type: 'text' } }).format).toEqual({ type: 'text' })
  const grammar = { response_format: { type: 'grammar', grammar: 'x' } }
  expect(params(grammar)).toMatchObject({ format: null, extra: grammar })
})

test('`store` and `metadata` of a chat request are parsed as storage options', () => {
  const metadata = { a: 'b' }
  expect(parse({ model: 'm', messages: HI, store: true, metadata }).storage).toMatchObject({
    store: true,
    metadata,
  })
})

describe('the tools of a chat request', () => {
  test('a chat tool is parsed into a flat form, and `strict` is false by default', () => {
    const look = { name: 'look', description: 'd', parameters: { type: 'object' }, strict: true }
    const grammar = { syntax: 'lark', definition: 'x' }
    expect(
      params({
        tools: [
          { type: 'function', function: { name: 'f' } },
          { type: 'function', function: look },
          { type: 'custom', custom: { name: 'c', format: { type: 'grammar', grammar } } },
          { type: 'web_search' },
        ],
      }).tools,
    ).toEqual([
      { type: 'function', name: 'f', description: null, parameters: null, strict: false },
      { type: 'function', ...look },
      { type: 'custom', name: 'c', description: null, format: { type: 'grammar', ...grammar } },
      { type: 'opaque', raw: { type: 'web_search' } },
    ])
  })

  test('every form of a chat tool choice is parsed', () => {
    const choice = (tool_choice: JsonObject | string) => params({ tool_choice }).toolChoice
    expect(choice('required')).toEqual({ type: 'required' })
    expect(choice({ type: 'function', function: { name: 'f' } })).toEqual({
      type: 'function',
      name: 'f',
    })
    expect(choice({ type: 'custom', custom: { name: 'c' } })).toEqual({ type: 'custom', name: 'c' })
    const allowed = (tools: JsonObject[]) =>
      choice({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } })
    expect(allowed([{ type: 'function', function: { name: 'f' } }])).toEqual({
      type: 'allowed',
      mode: 'auto',
      names: ['f'],
    })
    expect(allowed([{ type: 'web_search' }])).toMatchObject({ type: 'opaque' })
    expect(choice({ type: 'mcp' })).toEqual({ type: 'opaque', raw: { type: 'mcp' } })
  })

  test('the legacy field `functions` of a chat request is parsed as tools', () => {
    expect(params({ functions: [{ name: 'f' }], function_call: { name: 'f' } })).toMatchObject({
      tools: [{ type: 'function', name: 'f', strict: false }],
      toolChoice: { type: 'function', name: 'f' },
      extra: {},
    })
  })
})

describe('rejection of invalid chat requests', () => {
  test.each<[string, JsonObject, string, string]>([
    ['no model', { messages: HI }, 'missing_required_parameter', 'model'],
    ['an empty model', { model: '', messages: HI }, 'missing_required_parameter', 'model'],
    ['a model that is a number', { model: 3, messages: HI }, 'invalid_type', 'model'],
    ['no messages', { model: 'm' }, 'missing_required_parameter', 'messages'],
    ['an empty list of messages', { model: 'm', messages: [] }, 'empty_array', 'messages'],
    ['messages that are text', { model: 'm', messages: 'hi' }, 'invalid_type', 'messages'],
  ])('a chat request with %s is rejected', (_what, body, code, param) => {
    expect(readFailure(body)).toMatchObject({ status: 400, code, param })
  })

  test.each<[JsonObject, string, string]>([
    [{ temperature: 2.1 }, 'decimal_above_max_value', 'temperature'],
    [{ temperature: -1 }, 'decimal_below_min_value', 'temperature'],
    [{ temperature: '1' }, 'invalid_type', 'temperature'],
    [{ top_p: 1.5 }, 'decimal_above_max_value', 'top_p'],
    [{ n: 0 }, 'integer_below_min_value', 'n'],
    [{ n: 1.5 }, 'invalid_type', 'n'],
    [{ max_tokens: 0 }, 'integer_below_min_value', 'max_tokens'],
    [{ max_completion_tokens: -1 }, 'integer_below_min_value', 'max_completion_tokens'],
    [{ top_logprobs: 21 }, 'integer_above_max_value', 'top_logprobs'],
    [{ presence_penalty: 3 }, 'decimal_above_max_value', 'presence_penalty'],
    [{ stop: [1] }, 'invalid_type', 'stop[0]'],
    [{ stream: 'yes' }, 'invalid_type', 'stream'],
    [{ stream_options: true }, 'invalid_type', 'stream_options'],
    [{ store: 1 }, 'invalid_type', 'store'],
    [{ metadata: [] }, 'invalid_type', 'metadata'],
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].function'],
    [{ tools: ['f'] }, 'invalid_type', 'tools[0]'],
    [
      { tools: [{ type: 'custom', custom: {} }] },
      'missing_required_parameter',
      'tools[0].custom.name',
    ],
    [{ tool_choice: 'any' }, 'invalid_value', 'tool_choice'],
    [{ tool_choice: {} }, 'missing_required_parameter', 'tool_choice.type'],
    [
      { response_format: { type: 'json_schema' } },
      'missing_required_parameter',
      'response_format.json_schema',
    ],
    [{ functions: [{}] }, 'missing_required_parameter', 'functions[0].name'],
  ])('the chat request %j is rejected', (more, code, param) => {
    expect(readFailure({ model: 'm', messages: HI, ...more })).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code,
      param,
    })
  })

  test("a number outside of its range in a chat request is rejected with OpenAI's message", () => {
    expect(readFailure({ model: 'm', messages: HI, temperature: -1 }).message).toBe(
      "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    )
  })
})

test.skipIf(!sharedExists)(
  'every recorded chat request of Open WebUI is parsed without an error',
  () => {
    const lines = readShared('fixtures/open-webui/requests.jsonl').toString('utf8').split('\n')
    const requests = lines
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { connection: string; body: JsonObject })
      .filter(({ connection }) => connection === 'chat')
    expect(requests.length).toBeGreaterThan(10)
    for (const { body } of requests) {
      const { items, params, stream } = parse(body)
      expect(params.model).toBe('example-model')
      expect(stream).toBe(body['stream'] ?? false)
      expect(items.length).toBeGreaterThanOrEqual((body['messages'] as unknown[]).length)
    }
  },
)
