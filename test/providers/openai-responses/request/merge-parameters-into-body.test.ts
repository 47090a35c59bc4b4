/** What is sent for the settings of a prompt, and what is said about the rest. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import { encodeRequest } from '../../../../src/providers/openai-responses/request/encode-request.ts'
import { accountWith, ASK, chatPrompt, parsed, promptOf } from '../../../support/responses-kit.ts'
import { talk } from '../../../support/talk.ts'

const SAID = talk`user: go`

/** For a chat client. */
function chat(params: Partial<PromptParameters>, quirks: JsonObject = {}) {
  const encoded = encodeRequest(chatPrompt(SAID, params), accountWith(quirks))
  const { input: _input, ...fields } = encoded.body
  return { fields, notes: encoded.notes.map(({ field, why }) => [field, why]) }
}

/** For a client of this language. */
function own(body: JsonObject, quirks: JsonObject = {}, changed: Partial<PromptParameters> = {}) {
  const clientRequest = parsed({ ...ASK, ...body })
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

describe('for a chat client', () => {
  test('nothing is sent that was not asked', () => {
    expect(chat({})).toEqual({ fields: ALWAYS, notes: [] })
  })

  test.each([[[]], [['message.output_text.logprobs']]])(
    'log probabilities are asked for once (%j)',
    (include) => {
      expect(chat({ topLogprobs: 2, include }).fields['include']).toEqual([
        'message.output_text.logprobs',
        'reasoning.encrypted_content',
      ])
    },
  )

  test('every word has its field', () => {
    const schema = { type: 'object' }
    expect(
      chat({
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

  test('tools are flat, and say whether they are strict', () => {
    const custom = { type: 'custom', name: 'c', description: null, format: null } as const
    const look = {
      type: 'function',
      name: 'f',
      description: null,
      parameters: { type: 'object' },
      strict: false,
    } as const
    const { fields, notes } = chat({
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

  test('a choice without tools is not sent', () => {
    expect(chat({ toolChoice: { type: 'auto' } })).toEqual({ fields: ALWAYS, notes: [] })
    expect(chat({ toolChoice: { type: 'required' } }).notes).toEqual([
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

  test('what this API has no word for is noted', () => {
    const { fields, notes } = chat(WORDLESS)
    expect(fields).toEqual(ALWAYS)
    expect(notes).toEqual([
      ['stop', 'stop-enforced'],
      ...['seed', 'presence_penalty', 'frequency_penalty', 'n', 'logit_bias', 'top_k'].map(
        (field) => [field, 'parameter-without-word'],
      ),
    ])
  })

  test('what an upstream is known to understand is passed on', () => {
    const { fields, notes } = chat(WORDLESS, { passes: ['stop', 'seed', 'top_k'] })
    expect(fields).toEqual({ ...ALWAYS, stop: ['END'], seed: 7, top_k: 40 })
    expect(notes).toHaveLength(4)
  })

  test('what both APIs call the same is passed on', () => {
    expect(chat({ extra: { prompt_cache_retention: '24h' } })).toEqual({
      fields: { ...ALWAYS, prompt_cache_retention: '24h' },
      notes: [],
    })
  })
})

describe('for a client of this language', () => {
  test('its body goes on, but for what the gateway does itself', () => {
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
    expect(own(body)).toEqual({
      fields: { ...rest, model: 'gpt-5', store: false, stream: false, include: ALWAYS.include },
      notes: [],
    })
  })

  test('words of another API are sent as this one has them, or noted', () => {
    const { fields, notes } = own({
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

  test('what its upstream understands stays as it was written', () => {
    expect(own({ stop: 'END' }, { passes: ['stop'] })).toMatchObject({
      fields: { stop: 'END' },
      notes: [],
    })
  })

  test('only what the gateway has changed is written anew', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {}, async: true }] as const
    const clientRequest = parsed({ ...ASK, tools, temperature: 1, text: { future: 1 } })
    const added = {
      type: 'function',
      name: 'g',
      description: null,
      parameters: null,
      strict: false,
    } as const
    const { fields } = own(
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

  test('instructions that are items are not sent twice', () => {
    const { fields } = own({ instructions: [{ role: 'developer', content: 'x' }] })
    expect(fields).not.toHaveProperty('instructions')
  })

  test('what is asked of the gateway is not asked of the upstream', () => {
    const { fields } = own({ include: ['reasoning.raw', 'file_search_call.results'] })
    expect(fields['include']).toEqual(['file_search_call.results', 'reasoning.encrypted_content'])
  })
})

describe('the least number of tokens', () => {
  test('is sent where the client wanted fewer', () => {
    const raised = {
      fields: { max_output_tokens: 16 },
      notes: [['max_output_tokens', 'below-minimum']],
    }
    expect(chat({ maxOutputTokens: 1 })).toMatchObject(raised)
    expect(own({ max_output_tokens: 1 })).toMatchObject(raised)
  })

  test('is what the upstream says it is', () => {
    expect(chat({ maxOutputTokens: 1 }, { minOutputTokens: 1 })).toMatchObject({
      fields: { max_output_tokens: 1 },
      notes: [],
    })
  })
})

describe('sealed reasoning is asked for', () => {
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
  ])('of %s with %j: %s', (model, quirks, isAsked) => {
    const { include } = chat({ model }, quirks).fields
    expect(include).toEqual(isAsked ? ['reasoning.encrypted_content'] : undefined)
  })
})
