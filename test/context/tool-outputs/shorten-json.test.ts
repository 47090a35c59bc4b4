import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shortenJson } from '../../../src/context/tool-outputs/shorten-json.ts'

const LIMIT = 440

function shorten(value: unknown, limit = LIMIT): unknown {
  const short = shortenJson(JSON.stringify(value), limit)
  return short === null ? null : JSON.parse(short)
}

test('shortened JSON keeps fields and short values, and beginning and end of a long string', () => {
  const stdout = `${'a'.repeat(2000)}${'b'.repeat(2000)}`
  expect(shorten({ exit: 0, stdout, stderr: '', ok: true, more: null }, 200)).toEqual({
    exit: 0,
    stdout: `${'a'.repeat(68)} … 3899 characters left out … ${'b'.repeat(33)}`,
    stderr: '',
    ok: true,
    more: null,
  })
})

test('shortened JSON keeps the first and last elements of a long list, and counts the others', () => {
  const rows = Array.from({ length: 300 }, (_, id) => ({ id }))
  expect(shorten({ rows }, 110)).toEqual({
    rows: [{ id: 0 }, { id: 1 }, { id: 2 }, '… 295 elements left out …', { id: 298 }, { id: 299 }],
  })
})

test('if all elements of a list are long, shortened JSON contains the first and last element shortened', () => {
  const results = Array.from({ length: 9 }, (_, at) => ({ title: `T${at}`, text: 'x'.repeat(500) }))
  expect(shorten(results, 240)).toEqual([
    { title: 'T0', text: expect.stringMatching(/^x+ … \d+ characters left out … x+$/) as string },
    '… 7 elements left out …',
    { title: 'T8', text: expect.stringMatching(/^x+ … \d+ characters left out … x+$/) as string },
  ])
})

test('shortened JSON keeps the first fields of a large object, and counts the others', () => {
  const wide = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`field${at}`, at]))
  expect(shorten(wide, 100)).toEqual({
    field0: 0,
    field1: 1,
    field2: 2,
    field3: 3,
    '…': '… 95 fields left out …',
  })
})

test('shortened JSON keeps a deeply nested value complete, or replaces it by a count', () => {
  expect(shorten({ a: { b: { c: { d: { e: 1 } } } }, text: 'x'.repeat(900) })).toMatchObject({
    a: { b: { c: { d: { e: 1 } } } },
  })
  const depths = `${'['.repeat(9000)}${']'.repeat(9000)}`
  expect(shortenJson(depths, LIMIT)).toBe(
    `${'['.repeat(8)}"… 1 element left out …"${']'.repeat(8)}`,
  )
})

test('JSON that fits without its white space loses nothing else', () => {
  const value = { list: Array.from({ length: 50 }, (_, at) => at) }
  const text = JSON.stringify(value, null, 8)
  expect(text.length).toBeGreaterThan(LIMIT)
  expect(shortenJson(text, LIMIT)).toBe(JSON.stringify(value))
})

test('shortened JSON keeps all digits of numbers', () => {
  const text = `{"id":12345678901234567890,"ids":[-98765432109876543210],"text":"${'x'.repeat(900)}"}`
  expect(shortenJson(text, LIMIT)).toContain(
    '{"id":12345678901234567890,"ids":[-98765432109876543210],',
  )
})

test('short JSON stays unchanged', () => {
  const text = '{ "a": 1.0 }'
  expect(shortenJson(text, LIMIT)).toBe(text)
})

describe('texts that cannot be shortened as JSON', () => {
  test.each([
    ['text', 'so it goes. '.repeat(99)],
    ['a string', JSON.stringify('x'.repeat(900))],
    ['a text that only looks like JSON', `{${'x'.repeat(900)}}`],
    ['incomplete JSON', `{"a":"${'x'.repeat(900)}`],
    ['several values', '{"a":1}\n'.repeat(200)],
    ['an object with a too long field name', JSON.stringify({ ['x'.repeat(900)]: 1 })],
    [
      'a text that takes too long to parse',
      JSON.stringify('x'.repeat(300).split('').concat('y'.repeat(300_000))),
    ],
  ])('shortening JSON returns null for %s', (_, text) => {
    expect(shortenJson(text, LIMIT)).toBeNull()
  })
})

test('shortened JSON splits no surrogate pair, and keeps lone surrogates', () => {
  const short = shortenJson(JSON.stringify(['🦊'.repeat(400), `x${'🦊'.repeat(400)}`]), LIMIT)
  const texts = JSON.parse(short ?? '') as readonly string[]
  expect(texts.every((text) => text.isWellFormed())).toBe(true)
  const torn = shortenJson(JSON.stringify([`\ud83e${'x'.repeat(900)}`]), LIMIT)
  expect(torn?.isWellFormed()).toBe(true)
  expect(JSON.parse(torn ?? '')).toEqual([expect.stringMatching(/^\ud83ex+ … /)])
})

const anyJson = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.constantFrom<unknown>(
        0,
        -1.5,
        true,
        null,
        '',
        'short',
        '🦊'.repeat(300),
        '\n"\\'.repeat(200),
      ),
      fc.string({ unit: 'binary', maxLength: 900 }),
      fc.array(tie('value'), { maxLength: 40 }),
      fc.dictionary(fc.string({ maxLength: 20 }), tie('value'), { maxKeys: 30 }),
    ),
  }))
  .value.map((value) => JSON.stringify([value, 'x'.repeat(200)]))

test('any long JSON becomes short enough in one run, and stays JSON', () => {
  fc.assert(
    fc.property(anyJson, fc.integer({ min: 150, max: 900 }), (text, limit) => {
      const short = shortenJson(text, limit)
      if (short === null) throw new Error('A list of two can always be told.')
      expect(short.length).toBeLessThanOrEqual(limit)
      expect(Array.isArray(JSON.parse(short))).toBe(true)
      expect(shortenJson(short, limit)).toBe(short)
      expect(shortenJson(text, limit)).toBe(short)
      if (text.length <= limit) expect(short).toBe(text)
    }),
    { numRuns: 500 },
  )
})

test('a JSON object with thousands of fields is shortened below the limit', () => {
  const wide = Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`key${at}`, at]))
  expect(shortenJson(JSON.stringify(wide), LIMIT)?.length).toBeLessThanOrEqual(LIMIT)
})

test('JSON of any depth is shortened to any length', () => {
  const text = '['.repeat(90_000) + ']'.repeat(90_000)
  const object = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  for (const deep of [text, object])
    for (const limit of [LIMIT, 30_000, 100_000])
      expect(shortenJson(deep, limit)).toMatch(
        /^(\[|\{"a":){8}"… 1 (element|field) left out …"[\]}]{8}$/,
      )
})
