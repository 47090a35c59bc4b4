import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffText, applyTextDiff } from '../../../src/core/text/text-diff.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '😁', 'é'), maxLength: 40 })

test('applying a text diff restores the text, and no character is split', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, middle, other, tail) => {
      const [base, now] = [head + other + tail, head + middle + tail]
      const delta = diffText(base, now)
      expect(applyTextDiff(base, delta)).toBe(now)
      expect(delta.middle.isWellFormed()).toBe(true)
      // `middle` contains only the new text, plus at most half a surrogate pair at each end.
      expect(delta.middle.length).toBeLessThanOrEqual(middle.length + 2)
    }),
  )
})

test('diffText finds the common beginning of two long texts', () => {
  const long = 'word '.repeat(20_000)
  expect(diffText(`${long}one, }`, `${long}two and more, }`)).toEqual({
    prefix: long.length,
    suffix: 4,
    middle: 'two and mor',
  })
  expect(diffText('', 'all')).toEqual({ prefix: 0, suffix: 0, middle: 'all' })
  expect(diffText(long, long)).toEqual({ prefix: long.length, suffix: 0, middle: '' })
})
