/** Encodes the parameters of a prompt as fields of a request, with notes for changes. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import { encodeRequest } from '../../../../src/providers/openai-responses/request/encode-request.ts'
import {
  accountWith,
  ASK,
  chatPrompt,
  parseBody,
  promptOf,
} from '../../../support/responses-kit.ts'
import { talk } from '../../../support/talk.ts'

const SAID = talk`user: go`

function encodeChat(params: Partial<PromptParameters>, quirks: JsonObject = {}) {
  const encoded = encodeRequest(chatPrompt(SAID, params), accountWith(quirks))
  const { input: _input, ...fields } = encoded.body
  return { fields, notes: encoded.notes.map(({ field, why }) => [field, why]) }
}

function encodeResponses(
  body: JsonObject,
  quirks: JsonObject = {},
  changed: Partial<PromptParameters> = {},
) {
  const clientRequest = parseBody({ ...ASK, ...body })
  const params =
    Object.keys(changed).length === 0
      ? clientRequest.params
      : { ...clientRequest.params, ...changed }
  const encoded = encodeRequest(
    promptOf(clientRequest, clientRequest.items, params),
    accountWith(quirks),
  )
  const { input: _input, ...fields } = encoded.body
  return { fields, notes: encoded.notes.map(({ field, why }) => [field, why]) }
}

const ALWAYS = {
  model: 'gpt-5',
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
}

describe('Responses requests for Chat Completions clients', () => {
  test('a Responses request for a Chat Completions client without parameters has only the fields of every request', () => {
    expect(encodeChat({})).toEqual({ fields: ALWAYS, notes: [] })
  })

  test.each([[[]], [['message.output_text.logprobs']]])(
    'a Responses request for a Chat Completions client includes log probabilities once (%j)',
    (include) => {
      expect(encodeChat({ topLogprobs: 2, include }).fields['include']).toEqual([
        'message.output_text.logprobs',
        'reasoning.encrypted_content',
      ])
    },
  )

  test('a Responses request for a Chat Completions client has each parameter in its field', () => {
    const schema = { type: 'object' }
    expect(
      encodeChat({
        instructions: 'be brief',
        parallelToolCalls: false,
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 100,
        topLogprobs: 2,
        format: { type: 'json_schema', name: 'n', schema, strict: true, description: null },
        verbosity: 'low',
        effort: 'high',
        reasoningSummary: 'auto',
        serviceTier: 'flex',
        promptCacheKey: 'k',
        safetyIdentifier: 's',
        user: 'u',
      }),
    ).toEqual({
      fields: {
        ...ALWAYS,
        instructions: 'be brief',
        parallel_tool_calls: false,
        temperature: 0,
        top_p: 0.5,
        max_output_tokens: 100,
        top_logprobs: 2,
        include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
        text: {
          format: { type: 'json_schema', name: 'n', schema, strict: true },
          verbosity: 'low',
        },
        reasoning: { effort: 'high', summary: 'auto' },
        service_tier: 'flex',
        prompt_cache_key: 'k',
        safety_identifier: 's',
        user: 'u',
      },
      notes: [],
    })
  })

  test('a Responses request for a Chat Completions client has flat tools that always have `strict`', () => {
    const custom = { type: 'custom', name: 'c', description: null, format: null } as const
    const look = {
      type: 'function',
      name: 'f',
      description: null,
      parameters: { type: 'object' },
      strict: false,
    } as const
    const { fields, notes } = encodeChat({
      tools: [look, custom, { type: 'opaque', raw: { type: 'x' } }],
      toolChoice: { type: 'allowed', mode: 'auto', names: ['f', 'c'] },
    })
    expect(fields['tools']).toEqual([look, { type: 'custom', name: 'c' }])
    expect(fields['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'c' },
      ],
    })
    expect(notes).toEqual([['tools[2]', 'tool-without-word']])
  })

  test('a Responses request for a Chat Completions client has no tool choice without tools', () => {
    expect(encodeChat({ toolChoice: { type: 'auto' } })).toEqual({
      fields: ALWAYS,
      notes: [],
    })
    expect(encodeChat({ toolChoice: { type: 'required' } }).notes).toEqual([
      ['tool_choice', 'tool-choice-without-tools'],
    ])
  })

  const WORDLESS: Partial<PromptParameters> = {
    stop: ['END'],
    seed: 7,
    presencePenalty: 1,
    frequencyPenalty: -1,
    extra: { n: 2, logit_bias: { 1: 2 }, top_k: 40 },
  }

  test('each parameter of a Chat Completions client that Responses does not have gets a note', () => {
    const { fields, notes } = encodeChat(WORDLESS)
    expect(fields).toEqual(ALWAYS)
    expect(notes).toEqual([
      ['stop', 'stop-enforced'],
      ...['seed', 'presence_penalty', 'frequency_penalty', 'n', 'logit_bias', 'top_k'].map(
        (field) => [field, 'parameter-without-word'],
      ),
    ])
  })

  test('a Responses request for a Chat Completions client has the fields that the quirk `passes` lists', () => {
    const { fields, notes } = encodeChat(WORDLESS, { passes: ['stop', 'seed', 'top_k'] })
    expect(fields).toEqual({ ...ALWAYS, stop: ['END'], seed: 7, top_k: 40 })
    expect(notes).toHaveLength(4)
  })

  test('a Responses request for a Chat Completions client has the fields that exist in both APIs', () => {
    expect(encodeChat({ extra: { prompt_cache_retention: '24h' } })).toEqual({
      fields: { ...ALWAYS, prompt_cache_retention: '24h' },
      notes: [],
    })
  })
})

describe('Responses requests for Responses clients', () => {
  test("a Responses client's body is sent without the fields that only the gateway uses", () => {
    const body = {
      previous_response_id: 'resp_1',
      background: false,
      store: true,
      metadata: { a: 'b' },
      text: { format: { type: 'text' }, future: 1 },
      reasoning: { effort: 'low', context: 'all_turns' },
      tools: [{ type: 'function', name: 'f', parameters: {}, async: true }, { type: 'web_search' }],
      top_k: 40,
    }
    const { previous_response_id: _previous, background: _background, ...rest } = body
    expect(encodeResponses(body)).toEqual({
      fields: { ...rest, model: 'gpt-5', store: false, stream: false, include: ALWAYS.include },
      notes: [],
    })
  })

  test("Chat Completions fields in a Responses client's body are renamed, or dropped with a note", () => {
    const { fields, notes } = encodeResponses({
      reasoning_effort: 'low',
      reasoning: { summary: 'auto' },
      seed: 7,
      stop: 'END',
      n: null,
      stream_options: { include_usage: true },
      tool_choice: { type: 'function', function: { name: 'f' } },
      tools: [{ type: 'function', name: 'f' }],
    })
    expect(fields).toEqual({
      model: 'gpt-5',
      store: false,
      stream: false,
      include: ALWAYS.include,
      reasoning: { summary: 'auto', effort: 'low' },
      tool_choice: { type: 'function', name: 'f' },
      tools: [{ type: 'function', name: 'f' }],
    })
    expect(notes).toEqual([
      ['stop', 'stop-enforced'],
      ['reasoning_effort', 'parameter-moved'],
      ['seed', 'parameter-without-word'],
    ])
  })

  test("fields of a Responses client's body that the quirk `passes` lists are sent", () => {
    expect(encodeResponses({ stop: 'END' }, { passes: ['stop'] })).toMatchObject({
      fields: { stop: 'END' },
      notes: [],
    })
  })

  test('only changed parameters of a Responses client are encoded again', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {}, async: true }] as const
    const clientRequest = parseBody({ ...ASK, tools, temperature: 1, text: { future: 1 } })
    const added = {
      type: 'function',
      name: 'g',
      description: null,
      parameters: null,
      strict: false,
    } as const
    const { fields } = encodeResponses(
      { tools, temperature: 1, text: { future: 1 } },
      {},
      {
        model: 'gpt-5-mini',
        verbosity: 'low',
      },
    )
    expect(fields).toMatchObject({
      model: 'gpt-5-mini',
      text: { future: 1, verbosity: 'low' },
      temperature: 1,
      tools,
    })
    const more = { ...clientRequest.params, tools: [...clientRequest.params.tools, added] }
    const { body } = encodeRequest(
      promptOf(clientRequest, clientRequest.items, more),
      accountWith({}),
    )
    expect(body).toMatchObject({ tools: [tools[0], added] })
  })

  test('a list of instructions of a Responses client is not sent twice', () => {
    const { fields } = encodeResponses({
      instructions: [{ role: 'developer', content: 'x' }],
    })
    expect(fields).not.toHaveProperty('instructions')
  })

  test("a Responses client's `include` value that only the gateway supports is not sent", () => {
    const { fields } = encodeResponses({
      include: ['reasoning.raw', 'file_search_call.results'],
    })
    expect(fields['include']).toEqual(['file_search_call.results', 'reasoning.encrypted_content'])
  })
})

describe('the minimum of max_output_tokens in Responses requests', () => {
  test("a max_output_tokens below OpenAI's minimum is raised to the minimum", () => {
    const raised = {
      fields: { max_output_tokens: 16 },
      notes: [['max_output_tokens', 'below-minimum']],
    }
    expect(encodeChat({ maxOutputTokens: 1 })).toMatchObject(raised)
    expect(encodeResponses({ max_output_tokens: 1 })).toMatchObject(raised)
  })

  test('the quirk `minOutputTokens` sets the minimum of max_output_tokens', () => {
    expect(encodeChat({ maxOutputTokens: 1 }, { minOutputTokens: 1 })).toMatchObject({
      fields: { max_output_tokens: 1 },
      notes: [],
    })
  })
})

test.each([
  ['gpt-5', {}, true],
  ['o3', {}, true],
  ['openai/gpt-oss-120b', {}, true],
  ['gpt-4o', {}, false],
  ['gpt-4.1-mini', {}, false],
  ['openai/gpt-4o', {}, false],
  ['ft:gpt-4o:org::id', {}, false],
  ['gpt-5-chat-latest', {}, false],
  ['gpt-4o', { sealedReasoning: true }, true],
  ['gpt-5', { sealedReasoning: false }, false],
])(
  'a Responses request for the model %s with the quirks %j asks for encrypted reasoning: %s',
  (model, quirks, isAsked) => {
    const { include } = encodeChat({ model }, quirks).fields
    expect(include).toEqual(isAsked ? ['reasoning.encrypted_content'] : undefined)
  },
)
