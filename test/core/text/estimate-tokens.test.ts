import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'

const base64 = (bytes: number) => 'A'.repeat(Math.ceil((bytes * 4) / 3))

test('the texts of a value are estimated from their characters, and each field adds its name and a token', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('a small boat on the lake, and a bird above it')).toBe(11)
  expect(estimateTokens({ text: '' })).toBe(2)
  expect(estimateTokens([1, true, null])).toBe(3)
})

test('encrypted reasoning is estimated at fewer tokens than base64 in a text', () => {
  const encrypted = 'gAAAAB' + 'x7Qz'.repeat(1000)
  const text = estimateTokens(encrypted)
  for (const item of [
    { type: 'reasoning', encrypted_content: encrypted },
    { type: 'thinking', thinking: '', signature: encrypted },
    { type: 'redacted_thinking', data: encrypted },
    { type: 'reasoning.encrypted', data: encrypted },
    { text: '', thoughtSignature: encrypted },
  ])
    expect(estimateTokens(item)).toBeLessThan(text / 1.5)
})

test('a text file is estimated by its bytes if it is base64, and by its characters if not', () => {
  const text = 'a small boat on the lake. '.repeat(100)
  const plain = estimateTokens({ type: 'text', media_type: 'text/plain', data: text })
  const encoded = estimateTokens({ mimeType: 'text/plain', data: btoa(text) })
  expect(encoded / plain).toBeGreaterThan(0.7)
  expect(encoded / plain).toBeLessThan(1.4)
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
  expect(estimateTokens('data: what I have measured, in base64, was 4')).toBe(14)
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
  expect(estimateTokens(`data:${';'.repeat(2_000_000)}`)).toBeGreaterThan(40_000)
  expect(estimateTokens(`data:image/png${'a/'.repeat(1_000_000)};base64,`)).toBeGreaterThan(400_000)
  expect(estimateTokens('\ud800'.repeat(1_000_000))).toBeGreaterThan(900_000)
})
