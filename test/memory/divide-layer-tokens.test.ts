import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { divideTokens, type TokenRange } from '../../src/memory/divide-layer-tokens.ts'

const claim = (minTokens: number, maxTokens: number): TokenRange => ({ minTokens, maxTokens })
const someClaims = fc.array(fc.record({ minTokens: fc.nat(3000), maxTokens: fc.nat(5000) }), {
  maxLength: 6,
})
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

describe('the token shares of layers (C39)', () => {
  test.each([
    ['what each needs, and the rest by use', 1000, [claim(200, 600), claim(300, 700)], [450, 550]],
    ['no more than there is a use for', 5000, [claim(200, 600), claim(0, 100)], [600, 100]],
    [
      'scaled down where the least is too much',
      300,
      [claim(200, 900), claim(400, 400)],
      [100, 200],
    ],
    ['what rounding leaves goes to the first', 100, [claim(0, 50), claim(0, 51)], [50, 50]],
    ['nothing of nothing', 0, [claim(200, 900)], [0]],
    ['nobody', 100, [], []],
  ])('%s', (_, total, claims, shares) => {
    expect(divideTokens(total, claims)).toEqual(shares)
  })

  test('add up, are integers, never negative, and never above a maximum', () => {
    fc.assert(
      fc.property(fc.nat(10_000), someClaims, (total, claims) => {
        const shares = divideTokens(total, claims)
        expect(sum(shares)).toBe(Math.min(total, sum(claims.map(({ maxTokens }) => maxTokens))))
        for (const [at, share] of shares.entries()) {
          expect(Number.isInteger(share) && share >= 0).toBe(true)
          expect(share).toBeLessThanOrEqual(claims[at]?.maxTokens ?? 0)
        }
      }),
    )
  })

  test('are never below a minimum if the limit allows it', () => {
    fc.assert(
      fc.property(fc.nat(20_000), someClaims, (total, claims) => {
        const least = claims.map((each) => Math.min(each.minTokens, each.maxTokens))
        if (sum(least) > total) return
        const shares = divideTokens(total, claims)
        for (const [at, share] of shares.entries()) {
          expect(share).toBeGreaterThanOrEqual(least[at] ?? 0)
        }
      }),
    )
  })
})
