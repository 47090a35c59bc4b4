import { describe, expect, test } from 'vitest'
import { measureTermOverlap, extractSearchTerms } from '../../../src/core/text/search-terms.ts'

describe('search terms of a text', () => {
  test.each([
    ['Crème brûlée, CRÈME!', ['creme', 'brulee']],
    ['port 8080 (not 8081)', ['port', '8080', 'not', '8081']],
    ['ＦＵＬＬ width', ['full', 'width']],
    ['東京に住む', ['東京', '京に', 'に住', '住む']],
    ['猫 and 犬', ['猫', 'and', '犬']],
    ['서울에서', ['서울', '울에', '에서']],
    ['привет ПРИВЕТ', ['привет']],
    ['x'.repeat(100), ['x'.repeat(40)]],
    [`x${'𐌰'.repeat(30)}`, [`x${'𐌰'.repeat(19)}\ufffd`]],
    ['\ud800 🙂 —', []],
    ['', []],
  ])('extractSearchTerms reads the search terms of %s', (text, words) => {
    expect(extractSearchTerms(text)).toEqual(words)
  })

  test('extractSearchTerms returns at most the requested number of terms', () => {
    expect(extractSearchTerms('one two three four', 2)).toEqual(['one', 'two'])
    expect(extractSearchTerms('東京に住む', 2)).toEqual(['東京', '京に'])
  })

  test('extractSearchTerms reads a long text in linear time', () => {
    const text = 'word '.repeat(200_000)
    expect(extractSearchTerms(text, 64)).toEqual(['word'])
  })
})

test('measureTermOverlap returns the share of terms that two texts have in common', () => {
  expect(measureTermOverlap(['a', 'b'], ['b', 'a'])).toBe(1)
  expect(measureTermOverlap(['a', 'b', 'c'], ['b', 'c', 'd'])).toBe(0.5)
  expect(measureTermOverlap(['a'], ['b'])).toBe(0)
  expect(measureTermOverlap([], [])).toBe(0)
})
