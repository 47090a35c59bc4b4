import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyTextDiffs, diffText } from '../../../src/core/text/text-diff.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '😁', 'é'), maxLength: 40 })

test('applying text diffs restores the last text, and no character is split', () => {
  const versions = fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(versions, (edits) => {
      // Each version contains the one before, and a part of it twice.
      let base = ''
      const diffs = edits.map(([head, middle, tail]) => {
        const now = head + base.slice(0, base.length / 2).toWellFormed() + middle + base + tail
        const diff = diffText(base, now)
        expect(diff.middle.isWellFormed()).toBe(true)
        base = now
        return diff
      })
      expect(applyTextDiffs(diffs)).toBe(base)
    }),
  )
})

test('a text diff contains only what is new, and at most half a surrogate pair at each end', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, middle, other, tail) => {
      const [base, now] = [head + other + tail, head + middle + tail]
      const diff = diffText(base, now)
      expect(applyTextDiffs([diffText('', base), diff])).toBe(now)
      expect(diff.middle.isWellFormed()).toBe(true)
      expect(diff.middle.length).toBeLessThanOrEqual(middle.length + 2)
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
