import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffText, applyTextDiff } from '../../../src/core/text/text-diff.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '😁', 'é'), maxLength: 40 })

test('what is told from another text comes back as it was, with no character cut in half', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, middle, other, tail) => {
      const [base, now] = [head + other + tail, head + middle + tail]
      const delta = diffText(base, now)
      expect(applyTextDiff(base, delta)).toBe(now)
      expect(delta.middle.isWellFormed()).toBe(true)
      // No more than what is new is told, but for half a character at each end.
      expect(delta.middle.length).toBeLessThanOrEqual(middle.length + 2)
    }),
  )
})

test('finds what two long texts have in common, wherever it ends', () => {
  const long = 'word '.repeat(20_000)
  expect(diffText(`${long}one, }`, `${long}two and more, }`)).toEqual({
    prefix: long.length,
    suffix: 4,
    middle: 'two and mor',
  })
  expect(diffText('', 'all')).toEqual({ prefix: 0, suffix: 0, middle: 'all' })
  expect(diffText(long, long)).toEqual({ prefix: long.length, suffix: 0, middle: '' })
})
