import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  JSON_PROBE_CHARS,
  looksLikeJson,
} from '../../../../src/gateway/respond/markers/looks-like-json.ts'

function probe(text: string): boolean | null {
  return looksLikeJson(text.slice(0, JSON_PROBE_CHARS))
}

test.each([
  '{',
  '{"a": 1}',
  '["one", "two"]',
  '[{"a": 1}]',
  '[[1, 2], ["a"]]',
  '[ true, false]',
  '[1, null]',
  '[-1.5e3, 2000, 3000, 4000, 5000]',
])('a text that starts with %s counts as a JSON object or array', (text) => {
  expect(probe(text)).toBe(true)
})

test.each([
  '4 degrees',
  '1. Take the eggs',
  '-5 is less than 0',
  '"Hello", she said',
  'true, but not all',
  'null',
  '[text](https://example.com)',
  '[nothing] is true',
  '[1] says so',
  '[1](https://example.com)',
  '[1, 2] both say so',
  '[1][2] say so',
  '[[1]](https://example.com)',
  '[2024 report]: in short',
  '[ ] eggs',
  '[x] milk',
  '[Eve](https://example.com)',
  '[01KQZ3V8M6T2X9R4B7C9]: #',
  '[01234567890123456789]: #',
])('a text that starts with %s does not count as a JSON object or array', (text) => {
  expect(probe(text)).toBe(false)
})

test.each(['[', '[ ', '[1', '[1]', '[1]\n', '[t', '[tru', '[1, n', '[[1]'])(
  'after the start %s, it is undecided whether the text is JSON',
  (text) => {
    expect(probe(text)).toBeNull()
  },
)

test('no start of a JSON object or array counts as other text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
      fc.pre(typeof value === 'object' && value !== null)
      const text = JSON.stringify(value, null, space)
      for (let end = 1; end <= text.length; end += 1) {
        expect(probe(text.slice(0, end))).not.toBe(false)
      }
    }),
    { numRuns: 200 },
  )
})

test('the decision whether a text is JSON does not change when more of it follows', () => {
  const letters = fc.constantFrom('[', ']', '{', '"', '1', ',', ' ', 't', 'true', 'n', 'a', '(')
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 30 }), (all) => {
      const text = all.join('')
      let last: boolean | null = null
      for (let end = 1; end <= text.length; end += 1) {
        const next = probe(text.slice(0, end))
        if (last !== null) expect(next).toBe(last)
        last = next
      }
    }),
    { numRuns: 300 },
  )
})
