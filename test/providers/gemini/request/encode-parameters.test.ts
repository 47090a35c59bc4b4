import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { OutputFormat, PromptParameters, Tool } from '../../../../src/core/prompt.ts'
import { message, encode } from '../kit.ts'

const hi = [message('user', 'Hi')]

function look(more: Partial<Tool & { type: 'function' }> = {}): Tool {
  return {
    type: 'function',
    name: 'look',
    description: null,
    parameters: null,
    strict: false,
    ...more,
  }
}

function config(params: Partial<PromptParameters>): { config: unknown; codes: readonly string[] } {
  const { body, codes } = encode(hi, params)
  return { config: body['generationConfig'], codes: codes }
}

test('each parameter that Gemini has is sent in its generationConfig field', () => {
  const params: Partial<PromptParameters> = {
    model: 'gemini-3-flash-preview',
    maxOutputTokens: 100,
    temperature: 0,
    topP: 0.5,
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stop: ['a', 'a', '', 'b'],
    topLogprobs: 3,
    serviceTier: 'flex',
    extra: { top_k: 40, n: 1, safety_settings: [{ category: 'x' }], modalities: ['text', 'image'] },
  }
  const { body, codes } = encode(hi, params)
  expect(body).toMatchObject({
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 0,
      topP: 0.5,
      topK: 40,
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ['a', 'b'],
      responseLogprobs: true,
      logprobs: 3,
      responseModalities: ['TEXT', 'IMAGE'],
      thinkingConfig: { includeThoughts: true },
    },
    safetySettings: [{ category: 'x' }],
    serviceTier: 'flex',
  })
  expect(codes).toEqual([])
})

test('each parameter that Gemini does not have gets a note with its field', () => {
  const { notes } = encode(hi, {
    verbosity: 'low',
    promptCacheKey: 'k',
    safetyIdentifier: 's',
    user: 'u',
    serviceTier: 'scale',
    include: ['reasoning.encrypted_content', 'file_search_call.results'],
    extra: { logit_bias: { 1: 2 }, n: 3, unset: null, modalities: ['text'] },
  })
  expect(notes.map(({ why }) => why)).toEqual(notes.map(() => 'unsupported-parameter'))
  expect(notes.map(({ field = '' }) => field).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'include',
    'logit_bias',
    'n',
    'prompt_cache_key',
    'safety_identifier',
    'service_tier',
    'user',
    'verbosity',
  ])
})

test('at most five stop sequences are sent to Gemini', () => {
  const { config: sent, codes } = config({ stop: ['1', '2', '3', '4', '5', '6', '7'] })
  expect(sent).toMatchObject({ stopSequences: ['1', '2', '3', '4', '5'] })
  expect(codes).toEqual(['stop-enforced'])
})

test('penalties are not sent to a Gemini model that rejects them', () => {
  const { config: sent, codes } = config({
    model: 'gemini-2.5-flash',
    presencePenalty: 1,
    frequencyPenalty: 1,
  })
  expect(sent).toEqual({ thinkingConfig: { includeThoughts: true } })
  expect(codes).toEqual(['not-with-this-model', 'not-with-this-model'])
})

describe('thinking parameters of Gemini models', () => {
  test.each<[model: string, effort: string | null, sent: JsonObject | undefined, noted: boolean]>([
    ['gemini-2.5-flash', null, { includeThoughts: true }, false],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, false],
    ['gemini-2.5-pro', 'none', { includeThoughts: true, thinkingBudget: 128 }, true],
    ['gemini-2.5-flash-lite', 'minimal', { includeThoughts: true, thinkingBudget: 512 }, false],
    ['gemini-2.5-flash', 'low', { includeThoughts: true, thinkingBudget: 1024 }, false],
    ['gemini-2.5-flash', 'medium', { includeThoughts: true, thinkingBudget: 4096 }, false],
    ['gemini-2.5-flash', 'high', { includeThoughts: true, thinkingBudget: 8192 }, false],
    ['gemini-2.5-pro', 'xhigh', { includeThoughts: true, thinkingBudget: 24_576 }, false],
    ['gemini-2.5-flash-image', 'high', undefined, true],
    ['gemini-3-pro-preview', 'none', { includeThoughts: true, thinkingLevel: 'LOW' }, true],
    ['gemini-3-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'HIGH' }, true],
    ['gemini-3.1-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }, false],
    [
      'gemini-3-flash-preview',
      'minimal',
      { includeThoughts: true, thinkingLevel: 'MINIMAL' },
      false,
    ],
    ['gemini-3.8-flash', 'minimal', { includeThoughts: true, thinkingLevel: 'LOW' }, true],
    ['gemini-3.1-flash-lite', 'none', { includeThoughts: true, thinkingLevel: 'MINIMAL' }, true],
    ['gemini-flash-latest', 'high', { includeThoughts: true, thinkingLevel: 'HIGH' }, false],
    ['gemini-3-pro-image-preview', 'low', { includeThoughts: true }, true],
    ['gemini-2.0-flash', 'high', undefined, true],
    ['gemini-2.0-flash', null, undefined, false],
    ['gemma-3-27b-it', null, undefined, false],
  ])(
    'the Gemini model %s gets the thinking parameters for the effort %s',
    (model, effort, sent, noted) => {
      const { config: settings, codes } = config({ model, effort })
      expect((settings as JsonObject | undefined)?.['thinkingConfig']).toEqual(sent)
      expect(codes).toEqual(noted ? ['effort-mapped'] : [])
    },
  )

  test('an unknown reasoning effort is not sent to Gemini and gets a note', () => {
    expect(config({ effort: 'heroic' })).toEqual({
      config: { thinkingConfig: { includeThoughts: true } },
      codes: ['unsupported-parameter'],
    })
  })
})

describe('structured output of Gemini models', () => {
  const format: OutputFormat = {
    type: 'json_schema',
    name: 'city',
    schema: {
      type: 'object',
      properties: { name: { type: 'string' }, area: { type: ['number', 'null'] } },
      required: ['name', 'area'],
      additionalProperties: false,
    },
    strict: true,
    description: null,
  }

  test('a schema for a Gemini answer is simplified and keeps the order of its properties', () => {
    const { config: sent, codes } = config({ format })
    expect(sent).toMatchObject({
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, area: { type: 'number', nullable: true } },
        required: ['name', 'area'],
        propertyOrdering: ['name', 'area'],
      },
    })
    expect(codes).toEqual(['schema-simplified'])
  })

  test('a JSON schema is sent unchanged to a Gemini upstream with the quirk jsonSchema', () => {
    const { body, codes } = encode(
      hi,
      { format, tools: [look({ parameters: format.schema })] },
      { jsonSchema: true },
    )
    expect(body).toMatchObject({
      tools: [{ functionDeclarations: [{ parametersJsonSchema: format.schema }] }],
      generationConfig: { responseJsonSchema: format.schema },
    })
    expect(codes).toEqual([])
  })

  test('a Gemini answer in JSON without a schema is requested by its media type alone', () => {
    expect(config({ format: { type: 'json_object' } }).config).toMatchObject({
      responseMimeType: 'application/json',
    })
    expect(config({ format: { type: 'text' } }).config).not.toHaveProperty('responseMimeType')
  })

  test('a Gemini model before version 3 gets an instruction to answer with JSON if the request has tools', () => {
    const { body, codes } = encode(hi, { model: 'gemini-2.5-pro', format, tools: [look()] })
    expect(body['generationConfig']).not.toHaveProperty('responseMimeType')
    expect(JSON.stringify(body['systemInstruction'])).toContain('additionalProperties')
    expect(codes).toEqual(['format-with-tools'])
    expect(encode(hi, { format, tools: [look()] }).codes).toEqual(['schema-simplified'])
  })
})

describe('tools and tool choices in Gemini requests', () => {
  test('function and custom tools are declared as Gemini functions, and hosted tools are left out', () => {
    const { body, notes } = encode(hi, {
      tools: [
        look({
          description: 'Looks.',
          parameters: { type: 'object', properties: { at: { type: 'string' } } },
        }),
        look({ name: 'wait', parameters: { type: 'object', properties: {} } }),
        {
          type: 'custom',
          name: 'grep',
          description: 'Greps.',
          format: { type: 'grammar', definition: 'start: /a/' },
        },
        { type: 'opaque', raw: { type: 'web_search' } },
      ],
    })
    expect(body['tools']).toEqual([
      {
        functionDeclarations: [
          {
            name: 'look',
            description: 'Looks.',
            parameters: { type: 'object', properties: { at: { type: 'string' } } },
          },
          { name: 'wait' },
          {
            name: 'grep',
            description: 'Greps.\n\nThe input follows this grammar:\nstart: /a/',
            parameters: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
            },
          },
        ],
      },
    ])
    expect(notes.map(({ why, field }) => [why, field])).toEqual([
      ['custom-tool', 'tools[2]'],
      ['grammar-not-enforced', 'tools[2].format'],
      ['hosted-tool', 'tools[3]'],
    ])
  })

  test.each<[PromptParameters['toolChoice'], JsonObject | undefined, readonly string[]]>([
    [null, undefined, []],
    [{ type: 'auto' }, { mode: 'AUTO' }, []],
    [{ type: 'none' }, { mode: 'NONE' }, []],
    [{ type: 'required' }, { mode: 'ANY' }, []],
    [{ type: 'function', name: 'look' }, { mode: 'ANY', allowedFunctionNames: ['look'] }, []],
    [{ type: 'function', name: 'gone' }, undefined, ['tool-choice-dropped']],
    [{ type: 'opaque', raw: { type: 'mcp' } }, undefined, ['tool-choice-dropped']],
    [
      { type: 'allowed', mode: 'required', names: ['look', 'gone'] },
      { mode: 'ANY', allowedFunctionNames: ['look'] },
      [],
    ],
  ])('the tool choice %j is sent to Gemini as %j', (toolChoice, sent, codes) => {
    const { body, codes: noted } = encode(hi, {
      toolChoice,
      tools: [look(), look({ name: 'wait' })],
    })
    expect((body['toolConfig'] as JsonObject | undefined)?.['functionCallingConfig']).toEqual(sent)
    expect(noted).toEqual(codes)
  })

  test('a tool choice "auto" among allowed tools offers only those tools to Gemini', () => {
    const toolChoice = { type: 'allowed', mode: 'auto', names: ['wait'] } as const
    const { body, codes } = encode(hi, { toolChoice, tools: [look(), look({ name: 'wait' })] })
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'wait' }] }])
    expect(codes).toEqual(['tools-narrowed'])
  })

  test('a tool choice without tools is not sent to Gemini and gets a note', () => {
    expect(encode(hi, { toolChoice: { type: 'required' } }).codes).toEqual(['tool-choice-dropped'])
    expect(encode(hi, { toolChoice: { type: 'none' } }).codes).toEqual([])
  })

  test('strict schemas and a ban on parallel calls, which Gemini does not enforce, get a note', () => {
    expect(encode(hi, { tools: [look({ strict: true })], parallelToolCalls: false }).codes).toEqual(
      ['strict-not-enforced', 'parallel-not-limited'],
    )
  })
})
