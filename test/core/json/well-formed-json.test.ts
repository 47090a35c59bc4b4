import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readWellFormed, stringifyWellFormed } from '../../../src/core/json/well-formed-json.ts'

test('puts the broken character in the place of half a one (C19)', () => {
  expect(stringifyWellFormed({ '\ud83e': ['a\ud83e', '\udd8ab', '🦊'] })).toBe(
    '{"\ufffd":["a\ufffd","\ufffdb","🦊"]}',
  )
})

test('leaves alone what only looks like it', () => {
  const text = 'JSON has \\ud83e for it, and \\\\udd8a\n\\'
  expect(stringifyWellFormed(text)).toBe(JSON.stringify(text))
  expect(JSON.parse(stringifyWellFormed('\\\ud83e'))).toBe('\\\ufffd')
})

test('whatever it is, it says the same with all its characters whole', () => {
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

describe('bytes that were read', () => {
  const utf8 = new TextEncoder()
  const reread = (bytes: Uint8Array) => readWellFormed(bytes).bytes

  test('are the very same where every character is whole, however it is written', () => {
    for (const text of ['{}', '"🦊"', '"\\ud83e\\udd8a"', '"\\uD83E\\uDD8A"', '"\\\\ud83e"']) {
      const bytes = utf8.encode(text)
      expect(reread(bytes)).toBe(bytes)
    }
  })

  test('say the same with all their characters whole', () => {
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

  test('that are no UTF-8 are written as what they were read as', () => {
    expect(reread(Uint8Array.of(34, 0xff, 34))).toEqual(utf8.encode('"\ufffd"'))
  })
})
