import fc from 'fast-check'
import { expect, test } from 'vitest'
import { removeWhitespace } from '../../../src/recall/text/remove-whitespace.ts'

const BLANKS = '\0\t\n\v\f\r \u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff'

test('removeWhitespace removes all whitespace and nothing else', () => {
  const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...BLANKS.split('')))
  const text = fc.array(piece).map((pieces) => pieces.join('').toWellFormed())
  fc.assert(
    fc.property(text, (whole) => {
      expect(removeWhitespace(whole)).toBe(whole.replace(/[\s\0]+/g, ''))
    }),
  )
  expect(removeWhitespace(`\ufeff${BLANKS}a${BLANKS}\u0001ü${BLANKS}漢`)).toBe('a\u0001ü漢')
})

test('removeWhitespace accepts a text of any length', () => {
  for (const length of [21_845, 21_846, 200_000]) {
    expect(removeWhitespace(' 漢'.repeat(length))).toBe('漢'.repeat(length))
  }
})
