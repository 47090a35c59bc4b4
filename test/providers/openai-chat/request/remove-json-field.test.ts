import fc from 'fast-check'
import { expect, test } from 'vitest'
import { removeJsonField } from '../../../../src/providers/openai-chat/request/remove-json-field.ts'

const utf8 = new TextEncoder()

function removeStore(text: string): string | null {
  const rest = removeJsonField(utf8.encode(text), 'store')
  return rest === null ? null : new TextDecoder().decode(rest)
}

test.each([
  ['{"store":true,"a":1.0}', '{"a":1.0}'],
  ['{"a":"ü",  "store" : true , "b":2}', '{"a":"ü", "b":2}'],
  ['{"a":[{}], "store":true }', '{"a":[{}] }'],
  ['{"a":{"store":1},"store":false,"b":"x", "c":null}', '{"a":{"store":1},"b":"x", "c":null}'],
  [`{"store":true,"a":"${'x'.repeat(1000)}"}`, `{"a":"${'x'.repeat(1000)}"}`],
  [`{"a":"${'x'.repeat(1000)}","store":true,"b":1}`, `{"a":"${'x'.repeat(1000)}","b":1}`],
])('removeJsonField removes `store` from %s and returns %s', (text, expected) => {
  expect(removeStore(text)).toBe(expected)
})

test.each([
  '{"a":1}',
  '{"store":true}',
  '{"a":{"store":true},"b":[]}',
  '{"a":[],"store":true,"b":[]}',
  '{"store":"say \\"hi\\"","a":1}',
])('removeJsonField returns null for %s, in which it cannot remove `store`', (text) => {
  expect(removeStore(text)).toBeNull()
})

test('removeJsonField returns null or the bytes of the same object without the field', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.nat(),
      fc.nat(2),
      (fields, seed, space) => {
        const entries: [string, unknown][] = Object.entries(fields).filter(
          ([name]) => name !== 'store',
        )
        entries.splice(seed % (entries.length + 1), 0, ['store', true])
        const rest = removeStore(JSON.stringify(Object.fromEntries(entries), null, space))
        if (rest === null) return
        const { store: _, ...wanted } = Object.fromEntries(entries)
        expect(JSON.parse(rest)).toEqual(JSON.parse(JSON.stringify(wanted)))
      },
    ),
    { numRuns: 1000 },
  )
})
