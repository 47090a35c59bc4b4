import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../../src/core/json/json.ts'
import { findJsonByteOffset } from '../../../src/explain/cache-miss/json-byte-offset.ts'

test('the byte offset at which a value begins in a JSON text is found', () => {
  const name = fc.string({ unit: fc.constantFrom('a', '"', '\\', 'é', '}', ']', ',', ':') })
  const value = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), name, fc.array(name))
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.oneof(value, fc.array(value))),
      fc.boolean(),
      (object, isWide) => {
        const json = JSON.stringify(object, null, isWide ? 2 : 0)
        for (const [key, found] of Object.entries(object)) {
          const at = findJsonByteOffset(json, [key], 0) ?? 0
          const text = Buffer.from(json).subarray(at).toString()
          const inner = typeof found === 'string' ? `"${text}` : text
          expect(beginning(inner)).toEqual(found)
        }
        expect(findJsonByteOffset(json, ['not there', 0], 0)).toBeNull()
      },
    ),
  )
})

/** Parses the value at the start of a text. */
function beginning(text: string): Json {
  for (let end = 1; end <= text.length; end += 1) {
    const rest = text.slice(end).trimStart()
    if (rest !== '' && !/^[,}\]]/.test(rest)) continue
    try {
      return JSON.parse(text.slice(0, end)) as Json
    } catch {
      // The value is not complete yet.
    }
  }
  throw new Error('no value')
}

test('the byte offset of a character in a JSON string counts earlier escapes as they are written', () => {
  const json = '{"a":[{"text":"é\\n\\u00e9xy"}]}'
  const at = findJsonByteOffset(json, ['a', 0, 'text'], 3) ?? 0
  expect(Buffer.from(json).subarray(at).toString()).toBe('xy"}]}')
})
