import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../../src/core/prompt.ts'
import { QUESTION, assistant, encode, fields, thought } from '../kit.ts'

test.each<readonly [Partial<PromptParameters>, JsonObject, readonly string[]]>([
  [{ temperature: 2 }, { temperature: 1 }, ['temperature-clamped']],
  [{ temperature: 0, topP: 0.5 }, { temperature: 0 }, ['sampling-conflict']],
  [{ topP: 0.5, extra: { top_k: 3 } }, { top_p: 0.5, top_k: 3 }, []],
  [{ temperature: 0, effort: 'low' }, {}, ['sampling-with-thinking']],
  [{ temperature: 0, model: 'claude-opus-4-8' }, {}, ['sampling-unsupported']],
  [{ temperature: 1, model: 'claude-opus-4-8' }, {}, []],
  [{ temperature: 0, topP: 0.5, model: 'kimi-k2' }, { temperature: 0, top_p: 0.5 }, []],
])('the sampling parameters %j are sent to Anthropic as %j', (params, expected, expectedWhy) => {
  const { body, codes } = encode(QUESTION, params)
  const { temperature, top_p, top_k } = body
  expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected)
  expect(codes).toEqual(expectedWhy)
})

describe('limits, stop sequences and other parameters in Anthropic requests', () => {
  test("an Anthropic request always has an output limit, at most the model's maximum", () => {
    const limits = [
      'claude-3-haiku-20240307',
      'claude-3-5-haiku-latest',
      'claude-opus-4-6',
      'kimi-k2',
    ]
    expect(limits.map((model) => fields({ model }, 'max_tokens')[0])).toEqual([
      4096, 8192, 32_000, 8192,
    ])
    expect(fields({ model: 'claude-opus-4-1', maxOutputTokens: 64_000 }, 'max_tokens')).toEqual([
      32_000,
      ['max-tokens-lowered'],
    ])
  })

  test('blank stop sequences and long user ids are not sent to Anthropic', () => {
    expect(fields({ stop: ['\n', 'END'] }, 'stop_sequences')).toEqual([['END'], ['stop-enforced']])
    expect(fields({ safetyIdentifier: 'x'.repeat(257) }, 'metadata')).toEqual([
      undefined,
      ['user-id-too-long'],
    ])
  })

  test("each parameter that Anthropic's API does not have gets a note", () => {
    const { notes } = encodeNotedFields({
      seed: 1,
      presencePenalty: 0.5,
      frequencyPenalty: 0,
      topLogprobs: 2,
      verbosity: 'low',
      promptCacheKey: 'k',
      serviceTier: 'flex',
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      extra: { n: 1, logit_bias: {}, logprobs: false, prediction: { type: 'content' } },
    })
    expect(notes).toEqual(
      [
        'service_tier',
        'seed',
        'presence_penalty',
        'top_logprobs',
        'verbosity',
        'prompt_cache_key',
        'include',
        'prediction',
      ].toSorted(),
    )
  })

  test('the service tier "default" is sent to Anthropic as "standard_only"', () => {
    expect(fields({ serviceTier: 'default' }, 'service_tier')).toEqual(['standard_only', []])
    expect(fields({ serviceTier: 'auto' }, 'service_tier')).toEqual([undefined, []])
  })

  test("the quirks of an Anthropic account override the defaults for a model's name", () => {
    const quirks = {
      thinking: 'budget',
      maxTokens: 3000,
      structuredOutput: 'native',
      prefill: false,
    }
    const items = [...QUESTION, thought('so'), assistant('Yes')]
    const { body, codes } = encode(items, { model: 'kimi-k2', effort: 'low' }, quirks)
    expect(body).toMatchObject({ max_tokens: 3000, thinking: { type: 'enabled' } })
    expect(codes).toEqual(['prefill-as-instruction'])
  })
})

function encodeNotedFields(params: Partial<PromptParameters>): {
  readonly notes: readonly unknown[]
} {
  const { codes, fields } = encode(QUESTION, params)
  expect(new Set(codes)).toEqual(new Set(['parameter-unsupported']))
  return { notes: fields.toSorted() }
}
