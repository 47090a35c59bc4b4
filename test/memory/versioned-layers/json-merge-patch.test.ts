import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import {
  createMergePatch,
  copySafeFields,
  MAX_NESTING_DEPTH,
  applyMergePatch,
} from '../../../src/memory/versioned-layers/json-merge-patch.ts'

/** `JSON.parse` creates `__proto__` as an ordinary field, as in a model's output. */
const read = (text: string) => JSON.parse(text) as JsonObject

const { object: someObject } = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.string(),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'toString'), tie('value'), { maxKeys: 3 }),
}))

function nested(depth: number): JsonObject {
  let object: JsonObject = {}
  for (let level = 1; level < depth; level += 1) object = { a: object }
  return object
}

describe('JSON Merge Patches for the working memory (C40)', () => {
  test.each([
    ['{"a":{"x":1}}', '{"a":{"y":2}}', '{"a":{"x":1,"y":2}}'],
    ['{"a":[1,2]}', '{"a":[3]}', '{"a":[3]}'],
    ['{"a":1,"b":2}', '{"a":null}', '{"b":2}'],
    ['{"a":"text"}', '{"a":{"b":{"c":null,"d":1}}}', '{"a":{"b":{"d":1}}}'],
    ['{"a":{"b":1}}', '{"a":"text"}', '{"a":"text"}'],
  ])('applyMergePatch changes %s with the patch %s as RFC 7396 says', (before, changes, after) => {
    expect(JSON.stringify(applyMergePatch(read(before), read(changes)))).toBe(after)
  })

  test('a merge patch with field names such as `__proto__` changes no prototype, whatever their depth', () => {
    const evil = read(
      '{"__proto__":{"x":1},"a":{"constructor":{"prototype":{"x":1}},"b":[{"__proto__":{"x":1},"ok":1}]}}',
    )
    const merged = applyMergePatch({}, evil)
    expect(JSON.stringify(merged)).toBe('{"a":{"b":[{"ok":1}]}}')
    expect(JSON.stringify(copySafeFields(evil))).toBe('{"a":{"b":[{"ok":1}]}}')
    expect(({} as { readonly x?: number }).x).toBeUndefined()
  })

  test('a merge patch that is nested deeper than 32 levels is rejected', () => {
    expect(applyMergePatch({}, nested(MAX_NESTING_DEPTH))).not.toBeNull()
    expect(applyMergePatch({}, nested(MAX_NESTING_DEPTH + 1))).toBeNull()
    expect(copySafeFields(nested(MAX_NESTING_DEPTH + 1))).toBeNull()
    expect(applyMergePatch({}, nested(5000))).toBeNull()
  })

  test('the patch that is created from two memories turns the first into the second', () => {
    fc.assert(
      fc.property(someObject, someObject, (before, after) => {
        const [one, other] = [applyMergePatch({}, before) ?? {}, applyMergePatch({}, after) ?? {}]
        expect(applyMergePatch(one, createMergePatch(one, other))).toEqual(other)
      }),
    )
  })

  test('the patch between two equal memories is empty', () => {
    fc.assert(
      fc.property(someObject, (memory) => {
        expect(createMergePatch(memory, structuredClone(memory))).toEqual({})
      }),
    )
  })
})
