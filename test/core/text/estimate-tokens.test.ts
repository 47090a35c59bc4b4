import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'

const base64 = (bytes: number) => 'A'.repeat(Math.ceil((bytes * 4) / 3))

test('four letters or one Chinese character are estimated as one token', () => {
  expect(estimateTokens('abcd'.repeat(100))).toBe(100)
  expect(estimateTokens('漢字'.repeat(50))).toBe(100)
  expect(estimateTokens('да'.repeat(50))).toBe(50)
  expect(estimateTokens('')).toBe(0)
})

test('each character adds the same number of tokens at any position', () => {
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

test.each([
  ['the Responses API', (data: string) => ({ type: 'input_image', image_url: pngUrl(data) })],
  ['Chat Completions', (data: string) => ({ type: 'image_url', image_url: { url: pngUrl(data) } })],
  [
    'Anthropic',
    (data: string) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    }),
  ],
  ['Gemini', (data: string) => ({ inlineData: { mimeType: 'image/png', data } })],
  ['a plain data URL', (data: string) => pngUrl(data)],
])(
  'an image in the format of %s is estimated at the same number of tokens for any file size',
  (_, encodeImage) => {
    const [small, large] = [10, 5_000_000].map((bytes) =>
      estimateTokens(encodeImage(base64(bytes))),
    )
    expect(small).toBe(large)
    expect(small).toBeGreaterThan(500)
    expect(small).toBeLessThan(2000)
  },
)

const pngUrl = (data: string): string => `data:image/png;base64,${data}`

test('an image URL is estimated at as many tokens as an image', () => {
  expect(estimateTokens({ type: 'input_image', file_id: 'file_1' })).toBe(1000)
  expect(
    estimateTokens({ fileData: { mimeType: 'image/png', fileUri: 'gs://a' } }),
  ).toBeGreaterThan(999)
})

test('tokens of audio and documents are estimated from their bytes, not from their base64 text', () => {
  const megabyte = base64(1_000_000)
  const text = estimateTokens(megabyte)
  const sound = estimateTokens({ input_audio: { data: megabyte, format: 'wav' } })
  const document = estimateTokens({ type: 'input_file', file_data: megabyte, filename: 'a.pdf' })
  expect(sound).toBeGreaterThan(900)
  expect(sound).toBeLessThan(document)
  expect(document).toBeLessThan(text / 10)
})

test('text that only looks like a data URL is estimated as text', () => {
  expect(estimateTokens('data: what I have measured, in base64, was 4')).toBe(11)
  expect(estimateTokens({ data: 'abcdefgh', note: 'x' })).toBeLessThan(10)
})

test('a longer value is never estimated at fewer tokens than a shorter one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(estimateTokens([a, b])).toBeGreaterThanOrEqual(estimateTokens(a))
    }),
    { numRuns: 200 },
  )
})

test('tokens of very large or deeply nested values are estimated in linear time', () => {
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  expect(estimateTokens(deep)).toBe(0)
  expect(estimateTokens(`data:${';'.repeat(2_000_000)}`)).toBeGreaterThan(400_000)
  expect(estimateTokens(`data:image/png${'a/'.repeat(1_000_000)};base64,`)).toBeGreaterThan(400_000)
  expect(estimateTokens('\ud800'.repeat(1_000_000))).toBe(1_000_000)
})
