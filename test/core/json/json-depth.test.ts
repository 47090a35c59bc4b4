import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNestedTooDeeply, MAX_JSON_DEPTH } from '../../../src/core/json/json-depth.ts'

function nested(depth: number, inner: unknown): unknown {
  let value = inner
  for (let at = 0; at < depth; at += 1) value = at % 3 === 0 ? [1, value] : { b: ']', a: value }
  return value
}

test('isNestedTooDeeply detects JSON values that exceed the depth limit', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(MAX_JSON_DEPTH + 50), (inner, around) => {
      const depth = around + depthOf(inner)
      expect(isNestedTooDeeply(nested(around, inner))).toBe(depth > MAX_JSON_DEPTH)
    }),
  )
})

test('isNestedTooDeeply checks extremely deep values without overflowing the stack', () => {
  expect(isNestedTooDeeply(nested(1_000_000, null))).toBe(true)
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((most: number, one) => Math.max(most, depthOf(one)), 0)
}
