import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateHeapBytes } from '../../../src/core/caching/estimate-heap-bytes.ts'
import { createLruCache } from '../../../src/core/caching/lru-cache.ts'

const MAX_BYTES = 20_000

const operations = fc.array(
  fc.record({
    key: fc.integer({ min: 0, max: 30 }).map((number) => `key ${number}`),
    chars: fc.integer({ min: 0, max: 8_000 }),
    letter: fc.constantFrom('a', 'ж'),
    type: fc.constantFrom('put', 'put', 'put', 'get', 'take'),
  }),
  { maxLength: 200 },
)

test('the keys and values of a cache together never take more than its limit', () => {
  fc.assert(
    fc.property(operations, (steps) => {
      const kept = new Map<string, string>()
      const cache = createLruCache<string>(MAX_BYTES, (key) => void kept.delete(key))
      for (const { key, chars, letter, type } of steps) {
        const value = letter.repeat(chars)
        const known = kept.get(key)
        if (type === 'get') expect(cache.get(key)).toBe(known)
        if (type === 'take') expect(cache.take(key)).toBe(known)
        // The cache drops others before `put` returns, but never what was just put.
        if (type === 'put' && cache.put(key, value)) kept.set(key, value)
      }
      const weights = [...kept].map(
        ([key, value]) => estimateHeapBytes(key) + estimateHeapBytes(value),
      )
      expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(MAX_BYTES)
    }),
  )
})

test('a cache of long keys is bounded, too', () => {
  const cache = createLruCache<string>(MAX_BYTES)
  const keys = Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(3_000, 'k'))
  for (const key of keys) cache.put(key, '')
  expect(keys.filter((key) => cache.get(key) !== undefined).length).toBeLessThan(8)
  expect(cache.get(keys.at(-1) ?? '')).toBe('')
})
