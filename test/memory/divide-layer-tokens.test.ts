import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { divideLayerTokens, type TokenRange } from '../../src/memory/divide-layer-tokens.ts'

const claim = (minTokens: number, maxTokens: number): TokenRange => ({ minTokens, maxTokens })
const someClaims = fc.array(fc.record({ minTokens: fc.nat(3000), maxTokens: fc.nat(5000) }), {
  maxLength: 6,
})
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

describe('division of a token limit among memory layers (C39)', () => {
  test.each([
    [
      'each layer gets its minimum, and the rest in proportion',
      1000,
      [claim(200, 600), claim(300, 700)],
      [450, 550],
    ],
    ['no layer gets more than its maximum', 5000, [claim(200, 600), claim(0, 100)], [600, 100]],
    [
      'the minimums are reduced in proportion if they exceed the limit',
      300,
      [claim(200, 900), claim(400, 400)],
      [100, 200],
    ],
    [
      'a token lost by rounding goes to the first layer',
      100,
      [claim(0, 50), claim(0, 51)],
      [50, 50],
    ],
    ['a limit of 0 gives no tokens', 0, [claim(200, 900)], [0]],
    ['without layers, the result is empty', 100, [], []],
  ])('dividing a token limit among memory layers: %s', (_, total, claims, shares) => {
    expect(divideLayerTokens(total, claims)).toEqual(shares)
  })

  test('the shares of memory layers in a token limit are whole numbers whose sum never exceeds the limit', () => {
    fc.assert(
      fc.property(fc.nat(10_000), someClaims, (total, claims) => {
        const shares = divideLayerTokens(total, claims)
        expect(sum(shares)).toBe(Math.min(total, sum(claims.map(({ maxTokens }) => maxTokens))))
        for (const [at, share] of shares.entries()) {
          expect(Number.isInteger(share) && share >= 0).toBe(true)
          expect(share).toBeLessThanOrEqual(claims[at]?.maxTokens ?? 0)
        }
      }),
    )
  })

  test('each memory layer gets at least its minimum of tokens if the common limit allows all minimums', () => {
    fc.assert(
      fc.property(fc.nat(20_000), someClaims, (total, claims) => {
        const least = claims.map((each) => Math.min(each.minTokens, each.maxTokens))
        if (sum(least) > total) return
        const shares = divideLayerTokens(total, claims)
        for (const [at, share] of shares.entries()) {
          expect(share).toBeGreaterThanOrEqual(least[at] ?? 0)
        }
      }),
    )
  })
})
