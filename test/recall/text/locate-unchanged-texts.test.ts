import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createComparisonBudget,
  locateTexts,
  type TextLines,
} from '../../../src/recall/text/locate-unchanged-texts.ts'

/** Separates texts with `|`; each letter is a line, e.g. `ab|c`. */
function anchors(texts: string, lines: string) {
  return locateTexts(
    texts.split('|').map((text) => text.split('')),
    lines.split(''),
  )
}

describe('locating several texts in a longer text', () => {
  test('several texts are located in a longer text only if they come in the same order there', () => {
    expect(anchors('ab|c|de', 'abcde')).toEqual([0, 2, 3])
    expect(anchors('ab|c|de', 'xabyyczde')).toEqual([1, 5, 7])
    expect(anchors('a|b', 'ba')).toEqual([1, null])
  })

  test('a text is not located in a longer text if one of its lines differs', () => {
    expect(anchors('abc|d', 'abd')).toEqual([null, 2])
    expect(anchors('abc', 'ab')).toEqual([null])
    expect(anchors('|a', 'a')).toEqual([null, 0])
  })

  test('of several equal texts, each is located by the texts around it', () => {
    expect(anchors('k|k|abc|k', 'xkabck')).toEqual([null, 1, 2, 5])
    expect(anchors('k|k|abc|k', 'kxabck')).toEqual([0, null, 2, 5])
    expect(anchors('k|k|abc|k', 'kkabcx')).toEqual([0, 1, 2, null])
    expect(anchors('k|abc', 'xabckx')).toEqual([null, 1])
  })
})

test('each text that was located in a longer text begins at the returned line, after the text before it', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })),
      lines,
      (texts, lines) => {
        let end = 0
        for (const [at, line] of locateTexts(texts, lines).entries()) {
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

test('if one of several texts was changed, all others are still located', () => {
  const texts = fc.array(fc.constantFrom('k', 'ab', 'k k', 'c'), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(texts, fc.nat(), (texts, pick) => {
      const all = texts.map((text) => text.split(' '))
      const changed = pick % all.length
      const lines = all.flatMap((text, at) => (at === changed ? ['x'] : text))
      const found = locateTexts(all, lines)
      expect(found.map((line) => line === null)).toEqual(all.map((_, at) => at === changed))
    }),
    { numRuns: 300 },
  )
})

describe('comparisons of lines in the search for texts', () => {
  const repeated = (line: string, count: number): string[] =>
    Array.from({ length: count }, () => line)

  /** Counts the compared lines without a limit. */
  function countComparedLines(sought: readonly TextLines[], lines: TextLines): number {
    const budget = { remainingLines: Number.MAX_SAFE_INTEGER }
    locateTexts(sought, lines, budget)
    return Number.MAX_SAFE_INTEGER - budget.remainingLines
  }

  test.each<[string, (size: number) => [readonly TextLines[], TextLines]]>([
    ['a text of one repeated line', (n) => [[[...repeated('a', n), 'b']], repeated('a', 4 * n)]],
    [
      'a text whose last line is followed by another',
      (n) => [[[...repeated('a', n), 'b']], [...repeated('a', 4 * n), 'b', 'c']],
    ],
    [
      'many texts of one repeated line',
      (n) => [repeated('a', n).map((line) => [line]), repeated('a', 2 * n)],
    ],
    [
      'many texts that do not occur',
      (n) => [repeated('b', n).map((line) => [line]), repeated('a', n)],
    ],
    [
      'many texts between changed ones',
      (n) => [
        Array.from({ length: n }, (_, at) => (at % 2 === 0 ? ['x', String(at)] : [`t${at}`])),
        Array.from({ length: n }, (_, at) => (at % 2 === 0 ? 'y' : `t${at}`)),
      ],
    ],
  ])('locating texts compares lines in proportion to their number: %s', (_name, made) => {
    const compared = countComparedLines(...made(1000))
    expect(compared).toBeLessThan(20_000)
    expect(countComparedLines(...made(2000))).toBeLessThanOrEqual(2.5 * compared + 10)
  })

  test('a text counts as edited if locating it takes more than the maximum number of line comparisons', () => {
    const pattern = [...repeated('a', 8), 'x', 'b']
    const many = (count: number) => Array.from({ length: count }, () => pattern).flat()
    const sought = [[...many(200), 'b', 'x']]
    const lines = ['c', ...many(800), 'b', 'x', 'c']
    const budget = createComparisonBudget(sought, lines)
    const initialLines = budget.remainingLines
    expect(locateTexts(sought, lines, { remainingLines: Number.MAX_SAFE_INTEGER })).toEqual([6001])
    expect(locateTexts(sought, lines, budget)).toEqual([null])
    // The comparison that exceeds the limit is completed.
    expect(initialLines - budget.remainingLines).toBeLessThan(initialLines + 3000)
  })
})
