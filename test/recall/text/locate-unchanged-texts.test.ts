import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createBudget,
  findLineAnchors,
  type TextLines,
} from '../../../src/recall/text/locate-unchanged-texts.ts'

/** Separates texts with `|`; each letter is a line, e.g. `ab|c`. */
function anchors(texts: string, lines: string) {
  return findLineAnchors(
    texts.split('|').map((text) => text.split('')),
    lines.split(''),
  )
}

describe('texts within a longer text', () => {
  test('are located in their order', () => {
    expect(anchors('ab|c|de', 'abcde')).toEqual([0, 2, 3])
    expect(anchors('ab|c|de', 'xabyyczde')).toEqual([1, 5, 7])
    expect(anchors('a|b', 'ba')).toEqual([1, null])
  })

  test('are located completely or not at all', () => {
    expect(anchors('abc|d', 'abd')).toEqual([null, 2])
    expect(anchors('abc', 'ab')).toEqual([null])
    expect(anchors('|a', 'a')).toEqual([null, 0])
  })

  test('that are equal are distinguished by the texts around them', () => {
    expect(anchors('k|k|abc|k', 'xkabck')).toEqual([null, 1, 2, 5])
    expect(anchors('k|k|abc|k', 'kxabck')).toEqual([0, null, 2, 5])
    expect(anchors('k|k|abc|k', 'kkabcx')).toEqual([0, 1, 2, null])
    expect(anchors('k|abc', 'xabckx')).toEqual([null, 1])
  })
})

test('are at the located positions, and in order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })),
      lines,
      (texts, lines) => {
        let end = 0
        for (const [at, line] of findLineAnchors(texts, lines).entries()) {
          if (line === null) continue
          const text = texts[at] ?? []
          expect(lines.slice(line, line + text.length)).toEqual(text)
          expect(line).toBeGreaterThanOrEqual(end)
          end = line + text.length
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('are still located if one of them was changed', () => {
  const texts = fc.array(fc.constantFrom('k', 'ab', 'k k', 'c'), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(texts, fc.nat(), (texts, pick) => {
      const all = texts.map((text) => text.split(' '))
      const changed = pick % all.length
      const lines = all.flatMap((text, at) => (at === changed ? ['x'] : text))
      const found = findLineAnchors(all, lines)
      expect(found.map((line) => line === null)).toEqual(all.map((_, at) => at === changed))
    }),
    { numRuns: 300 },
  )
})

describe('the number of comparisons', () => {
  const repeated = (line: string, count: number): string[] =>
    Array.from({ length: count }, () => line)

  /** Counts the compared lines without a limit. */
  function countComparedLines(sought: readonly TextLines[], lines: TextLines): number {
    const budget = { remainingLines: Number.MAX_SAFE_INTEGER }
    findLineAnchors(sought, lines, budget)
    return Number.MAX_SAFE_INTEGER - budget.remainingLines
  }

  test.each<[string, (size: number) => [readonly TextLines[], TextLines]]>([
    ['a text of the same line', (n) => [[[...repeated('a', n), 'b']], repeated('a', 4 * n)]],
    [
      'one that ends otherwise',
      (n) => [[[...repeated('a', n), 'b']], [...repeated('a', 4 * n), 'b', 'c']],
    ],
    [
      'many texts of the same line',
      (n) => [repeated('a', n).map((line) => [line]), repeated('a', 2 * n)],
    ],
    [
      'many texts that are not there',
      (n) => [repeated('b', n).map((line) => [line]), repeated('a', n)],
    ],
    [
      'many texts between changed ones',
      (n) => [
        Array.from({ length: n }, (_, at) => (at % 2 === 0 ? ['x', String(at)] : [`t${at}`])),
        Array.from({ length: n }, (_, at) => (at % 2 === 0 ? 'y' : `t${at}`)),
      ],
    ],
  ])('grows linearly with the lines: %s', (_name, made) => {
    const compared = countComparedLines(...made(1000))
    expect(compared).toBeLessThan(20_000)
    expect(countComparedLines(...made(2000))).toBeLessThanOrEqual(2.5 * compared + 10)
  })

  test('is limited, and beyond the limit a text counts as edited', () => {
    const pattern = [...repeated('a', 8), 'x', 'b']
    const many = (count: number) => Array.from({ length: count }, () => pattern).flat()
    const sought = [[...many(200), 'b', 'x']]
    const lines = ['c', ...many(800), 'b', 'x', 'c']
    const budget = createBudget(sought, lines)
    const initialLines = budget.remainingLines
    expect(findLineAnchors(sought, lines, { remainingLines: Number.MAX_SAFE_INTEGER })).toEqual([
      6001,
    ])
    expect(findLineAnchors(sought, lines, budget)).toEqual([null])
    // The comparison that exceeds the limit is completed.
    expect(initialLines - budget.remainingLines).toBeLessThan(initialLines + 3000)
  })
})
