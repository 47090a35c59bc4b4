import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'

const base64 = (bytes: number) => 'A'.repeat(Math.ceil((bytes * 4) / 3))

test('four letters or one Chinese character are a token', () => {
  expect(estimateTokens('abcd'.repeat(100))).toBe(100)
  expect(estimateTokens('漢字'.repeat(50))).toBe(100)
  expect(estimateTokens('да'.repeat(50))).toBe(50)
  expect(estimateTokens('')).toBe(0)
})

test('every character counts independently of its position', () => {
  const quarters = (text: string): number => {
    let sum = 0
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      sum += code >= 0x2e80 ? 4 : code >= 0x370 ? 2 : 1
    }
    return sum
  }
  const letter = fc.constantFrom(
    'a',
    'é',
    '\u036f',
    '\u0370',
    'д',
    '“',
    '\u2e7f',
    '\u2e80',
    '漢',
    '😀',
  )
  fc.assert(
    fc.property(fc.array(letter), (letters) => {
      const text = letters.join('')
      expect(estimateTokens(text)).toBe(Math.ceil(quarters(text) / 4))
    }),
  )
})

describe('an image counts the same for any file size', () => {
  const pictures = (data: string) => [
    { type: 'input_image', image_url: `data:image/png;base64,${data}` },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { inlineData: { mimeType: 'image/png', data } },
    `data:image/png;base64,${data}`,
  ]

  test.each([0, 1, 2, 3, 4])('in format %i', (way) => {
    const [small, large] = [10, 5_000_000].map((bytes) =>
      estimateTokens(pictures(base64(bytes))[way]),
    )
    expect(small).toBe(large)
    expect(small).toBeGreaterThan(500)
    expect(small).toBeLessThan(2000)
  })
})

test('an image URL counts as an image', () => {
  expect(estimateTokens({ type: 'input_image', file_id: 'file_1' })).toBe(1000)
  expect(
    estimateTokens({ fileData: { mimeType: 'image/png', fileUri: 'gs://a' } }),
  ).toBeGreaterThan(999)
})

test('audio and documents count by bytes instead of text', () => {
  const megabyte = base64(1_000_000)
  const text = estimateTokens(megabyte)
  const sound = estimateTokens({ input_audio: { data: megabyte, format: 'wav' } })
  const document = estimateTokens({ type: 'input_file', file_data: megabyte, filename: 'a.pdf' })
  expect(sound).toBeGreaterThan(900)
  expect(sound).toBeLessThan(document)
  expect(document).toBeLessThan(text / 10)
})

test('text that only looks like a data URL counts as text', () => {
  expect(estimateTokens('data: what I have measured, in base64, was 4')).toBe(11)
  expect(estimateTokens({ data: 'abcdefgh', note: 'x' })).toBeLessThan(10)
})

test('a longer value never counts less', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(estimateTokens([a, b])).toBeGreaterThanOrEqual(estimateTokens(a))
    }),
    { numRuns: 200 },
  )
})

test('hostile values are estimated in linear time', () => {
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  expect(estimateTokens(deep)).toBe(0)
  expect(estimateTokens(`data:${';'.repeat(2_000_000)}`)).toBeGreaterThan(400_000)
  expect(estimateTokens(`data:image/png${'a/'.repeat(1_000_000)};base64,`)).toBeGreaterThan(400_000)
  expect(estimateTokens('\ud800'.repeat(1_000_000))).toBe(1_000_000)
})
