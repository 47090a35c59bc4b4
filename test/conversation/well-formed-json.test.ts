import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wellFormedJson } from '../../src/conversation/well-formed-json.ts'

test('puts the broken character in the place of half a one', () => {
  expect(wellFormedJson({ '\ud83e': ['a\ud83e', '\udd8ab', '🦊'] })).toBe(
    '{"\ufffd":["a\ufffd","\ufffdb","🦊"]}',
  )
})

test('leaves alone what only looks like it', () => {
  const text = 'JSON has \\ud83e for it, and \\\\udd8a\n\\'
  expect(wellFormedJson(text)).toBe(JSON.stringify(text))
  expect(JSON.parse(wellFormedJson('\\\ud83e'))).toBe('\\\ufffd')
})

test('whatever it is, it says the same with all its characters whole', () => {
  const text = fc.string({ unit: 'binary' }).map((whole) => whole.slice(1, -1))
  const pieces = fc.array(fc.oneof(text, fc.constantFrom('\\', 'ud83e', '\ud83e', '\udd8a', '"')))
  fc.assert(
    fc.property(pieces, (all) => {
      const said = all.join('')
      expect(JSON.parse(wellFormedJson([said]))).toEqual([said.toWellFormed()])
    }),
    { numRuns: 200 },
  )
})
