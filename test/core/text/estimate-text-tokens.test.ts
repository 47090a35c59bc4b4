import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countMinTextTokens,
  estimateTextTokens,
} from '../../../src/core/text/estimate-text-tokens.ts'

interface CountedText {
  readonly kind: string
  readonly isData: boolean
  /** The tokens of the text in OpenAI's encoding o200k_base. */
  readonly tokens: number
  readonly text: string
}

const TEXTS = JSON.parse(
  readFileSync(new URL('counted-texts.json', import.meta.url), 'utf8'),
) as readonly CountedText[]

const errorOf = ({ text, tokens }: CountedText): number => estimateTextTokens(text) / tokens - 1

describe('the estimate compared with the tokens of o200k_base', () => {
  test.each(TEXTS)('$kind: within 35 %, and data not more than 25 % too low', (counted) => {
    expect(Math.abs(errorOf(counted))).toBeLessThan(0.35)
    if (counted.isData) expect(errorOf(counted)).toBeGreaterThan(-0.25)
  })

  test('the mean error over all kinds of text is at most 11 %', () => {
    const errors = TEXTS.map((counted) => Math.abs(errorOf(counted)))
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.11)
  })

  test('the minimum is below the real number for every kind', () => {
    for (const { text, tokens } of TEXTS) {
      // Tokenizers make one token of many blanks.
      const squeezed = text.replaceAll(/\s+/g, ' ').replaceAll(/(.)\1{3,}/gu, '$1$1$1')
      expect(countMinTextTokens(squeezed)).toBeLessThan(tokens)
    }
  })
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(...TEXTS.map(({ text }) => text)),
)

test('a longer text never has fewer tokens', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.constantFrom(1, 120), (a, b, times) => {
      const text = a.repeat(times)
      const longer = estimateTextTokens(text + b)
      expect(longer).toBeGreaterThanOrEqual(estimateTextTokens(text))
      expect(longer).toBeLessThanOrEqual((text + b).length * 2.55)
    }),
    { numRuns: 200 },
  )
})

test('a long text, of which only parts are counted, has as many tokens per character as a short one', () => {
  for (const { text } of TEXTS) {
    const times = Math.ceil(100_000 / text.length)
    const ratio = estimateTextTokens(text.repeat(times)) / (estimateTextTokens(text) * times)
    expect(ratio).toBeGreaterThan(0.9)
    expect(ratio).toBeLessThan(1.1)
  }
})

test('lone surrogates and all other codes are estimated', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const tokens = estimateTextTokens(String.fromCharCode(code, code, 97, code))
    if (!(tokens > 0 && tokens < 7)) expect.fail(`code ${code}: ${tokens}`)
  }
})
