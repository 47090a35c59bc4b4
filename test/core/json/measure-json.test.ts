import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_JSON_DEPTH, measureJson } from '../../../src/core/json/measure-json.ts'

const NO_LIMITS = { maxValues: Infinity, maxItems: Infinity, maxDepth: Infinity }

function measure(text: string, limits = {}) {
  return measureJson(new TextEncoder().encode(text), { ...NO_LIMITS, ...limits })
}

const strings = fc.string({ unit: fc.constantFrom('\\', '"', ',', '[', '{', ']', 'a', 'ü') })
const values = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
const json = fc.oneof(values, fc.array(fc.oneof(strings, values)), fc.dictionary(strings, values))

test('measureJson counts the values at all levels, whatever their strings contain', async () => {
  await fc.assert(
    fc.asyncProperty(json, fc.constantFrom(0, 1, '\t'), async (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(await measure(text)).toEqual({
        values: countValues(JSON.parse(text)),
        exceededLimit: null,
      })
    }),
    { numRuns: 300 },
  )
})

describe('limits of JSON', () => {
  test('a body is over the limit of values if it has one more', async () => {
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        const text = JSON.stringify(value)
        const count = countValues(JSON.parse(text))
        expect((await measure(text, { maxValues: count })).exceededLimit).toBeNull()
        expect((await measure(text, { maxValues: count - 1 })).exceededLimit).toBe('maxValues')
      }),
    )
  })

  test('only lists that are fields of the body have the limit of items', async () => {
    const limits = { maxItems: 2 }
    for (const text of ['{"a":[1,2],"b":[3,4]}', '{"a":{"b":[1,2,3]}}', '[1,2,3]', '{"a":[]}'])
      expect((await measure(text, limits)).exceededLimit).toBeNull()
    for (const text of ['{"a":[1,2,3]}', '{"a":[1,2],"b":[{"c":[]},[],{}]}'])
      expect((await measure(text, limits)).exceededLimit).toBe('maxItems')
  })

  test('a body that is nested too deeply is found, also if it never ends', async () => {
    const limits = { maxDepth: MAX_JSON_DEPTH }
    const nest = (depth: number) => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
    expect((await measure(nest(MAX_JSON_DEPTH), limits)).exceededLimit).toBeNull()
    expect((await measure(nest(MAX_JSON_DEPTH + 2), limits)).exceededLimit).toBe('maxDepth')
    expect((await measure('['.repeat(3_000_000), limits)).exceededLimit).toBe('maxDepth')
  })

  test('a text of several megabytes is measured like a short one', async () => {
    const long = JSON.stringify({
      a: 'x'.repeat(1_500_000),
      b: [`${'\\'.repeat(999_999)}"`, 1],
      c: [],
    })
    expect(await measure(long)).toEqual({ values: 6, exceededLimit: null })
  })

  test('text that is no JSON is measured without an error', async () => {
    for (const text of ['', '"', ']]]]', '{"a', '\\', ',,,', '"\\', '{"a":"b\\\\\\'])
      expect((await measure(text)).exceededLimit).toBeNull()
  })
})

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce((sum: number, one) => sum + countValues(one), 0)
}
