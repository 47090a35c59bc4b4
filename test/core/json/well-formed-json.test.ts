import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeWellFormedText,
  stringifyWellFormed,
} from '../../../src/core/json/well-formed-json.ts'

test('stringifyWellFormed replaces a lone surrogate with U+FFFD (C19)', () => {
  expect(stringifyWellFormed({ '\ud83e': ['a\ud83e', '\udd8ab', '🦊'] })).toBe(
    '{"\\ufffd":["a\\ufffd","\\ufffdb","🦊"]}',
  )
})

test('stringifyWellFormed leaves text that only looks like a surrogate escape unchanged', () => {
  const text = 'JSON has \\ud83e for it, and \\\\udd8a\n\\'
  expect(stringifyWellFormed(text)).toBe(JSON.stringify(text))
  expect(JSON.parse(stringifyWellFormed('\\\ud83e'))).toBe('\\\ufffd')
})

test('stringifyWellFormed writes any value as well-formed text with the same content', () => {
  const text = fc.string({ unit: 'binary' }).map((whole) => whole.slice(1, -1))
  const pieces = fc.array(fc.oneof(text, fc.constantFrom('\\', 'ud83e', '\ud83e', '\udd8a', '"')))
  fc.assert(
    fc.property(pieces, (all) => {
      const said = all.join('')
      expect(JSON.parse(stringifyWellFormed([said]))).toEqual([said.toWellFormed()])
    }),
    { numRuns: 200 },
  )
})

describe('decodeWellFormedText on the JSON bytes of a client', () => {
  const utf8 = new TextEncoder()
  const reread = (bytes: Uint8Array) => decodeWellFormedText(bytes).bytes

  test('JSON bytes of a client are returned unchanged if every character is complete', () => {
    for (const text of ['{}', '"🦊"', '"\\ud83e\\udd8a"', '"\\uD83E\\uDD8A"', '"\\\\ud83e"']) {
      const bytes = utf8.encode(text)
      expect(reread(bytes)).toBe(bytes)
    }
  })

  test('JSON bytes of a client with lone surrogates are replaced by well-formed bytes with the same content', () => {
    const pieces = ['\\ud83e', '\\uDD8A', '\\\\', 'ud83e', '🦊', '\\n', 'a']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces)), (all) => {
        const text = `["${all.join('')}"]`
        const [said] = JSON.parse(text) as readonly [string]
        const told = new TextDecoder().decode(reread(utf8.encode(text)))
        expect(JSON.parse(told)).toEqual([said.toWellFormed()])
        expect(told).not.toMatch(/[^\\]\\ud83e(?!\\udd8a)/i)
      }),
      { numRuns: 200 },
    )
  })

  test('JSON bytes of a client that are invalid UTF-8 are replaced by the decoded text', () => {
    expect(reread(Uint8Array.of(34, 0xff, 34))).toEqual(utf8.encode('"\ufffd"'))
  })
})
