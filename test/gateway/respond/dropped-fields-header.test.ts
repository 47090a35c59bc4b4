import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDroppedHeader } from '../../../src/gateway/respond/dropped-fields-header.ts'

test('the header x-backstory-dropped lists fields in their order, and is omitted without fields', () => {
  expect(formatDroppedHeader([])).toBe(null)
  expect(formatDroppedHeader(['n', 'tools[0].function.strict', 'tool_choice'])).toBe(
    'n, tools[0].function.strict, tool_choice',
  )
})

test('names in the header x-backstory-dropped are encoded if a header cannot contain them', () => {
  expect(formatDroppedHeader(['a, b', 'line\nbreak', 'größe', '100%'])).toBe(
    'a%2C%20b, line%0Abreak, gr%C3%B6%C3%9Fe, 100%25',
  )
})

test('a long header x-backstory-dropped ends with the number of fields that it does not list', () => {
  const header = formatDroppedHeader(Array.from({ length: 500 }, (_, index) => `tools[${index}]`))
  expect(header).toMatch(/^tools\[0\], .*, tools\[\d+\], \d+ more$/)
  expect(header?.length).toBeLessThan(1020)
  expect(formatDroppedHeader(['x'.repeat(2000)])).toBe('1 more')
})

test('the header x-backstory-dropped is valid for any field names', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1 }),
      (names) => {
        const value = formatDroppedHeader(names) ?? ''
        expect(new Headers({ 'x-backstory-dropped': value }).get('x-backstory-dropped')).toBe(value)
        expect(value).toMatch(/^[\x20-\x7e]{1,1020}$/)
      },
    ),
  )
})
