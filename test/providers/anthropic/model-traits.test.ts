/** Tests model names with dates and prefixes, and with the version before or after the family. */
import { expect, test } from 'vitest'
import { getModelTraits } from '../../../src/providers/anthropic/model-traits.ts'

test.each([
  ['claude-3-opus-20240229', 'none', 4096],
  ['claude-3-5-sonnet-latest', 'none', 8192],
  ['claude-3-7-sonnet-20250219', 'budget', 64_000],
  ['claude-opus-4-20250514', 'budget', 32_000],
  ['claude-opus-4-1-20250805', 'budget', 32_000],
  ['claude-sonnet-4-20250514', 'budget', 64_000],
  ['claude-haiku-4-5-20251001', 'budget', 64_000],
  ['anthropic/claude-4.5-sonnet', 'budget', 64_000],
  ['us.anthropic.claude-opus-4-6-v1:0', 'adaptive', 128_000],
  ['claude-sonnet-5', 'adaptive', 128_000],
  ['claude-mythos-preview', 'adaptive', 128_000],
  ['claude-of-the-future', 'adaptive', 128_000],
  ['claude-instant-1.2', 'none', 4096],
  ['MiniMax-M2', 'none', null],
])(
  'the model %s has the thinking mode "%s" and an output limit of %s tokens',
  (model, thinkingMode, maxTokens) => {
    expect(getModelTraits(model, {})).toMatchObject({ thinkingMode, outputLimit: maxTokens })
  },
)

test('Anthropic quirks with invalid values do not change the traits of a model', () => {
  const quirks = { thinking: 'hard', prefill: 'yes', maxTokens: '1', structuredOutput: null }
  expect(getModelTraits('claude-sonnet-5', quirks)).toEqual(getModelTraits('claude-sonnet-5', {}))
})
