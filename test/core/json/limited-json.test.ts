import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  MAX_TEXT_VALUES,
  MAX_TOTAL_VALUES,
  createJsonBudget,
  tryParseLimitedJson,
  tryParseLimitedJsonObject,
} from '../../../src/core/json/limited-json.ts'
import { decodeBase64Json } from '../../../src/core/json/base64-json.ts'
import { MAX_JSON_DEPTH } from '../../../src/core/json/measure-json.ts'
import { tryParseJson } from '../../../src/core/json/json.ts'

const list = (values: number) =>
  `[${Array(values - 1)
    .fill('{}')
    .join()}]`
const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('a text within the limits is parsed as without them, whatever it contains', () => {
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom(...'{ } [ ] " , : \\ 1 e ü 🦊'.split(' ')), maxLength: 20 }),
  )
  fc.assert(
    fc.property(text, (one) => {
      expect(tryParseLimitedJson(one)).toEqual(tryParseJson(one))
    }),
  )
})

describe('limits of JSON in a text', () => {
  test('a text has at most 20,000 values', () => {
    expect(tryParseLimitedJson(list(MAX_TEXT_VALUES))).toHaveLength(MAX_TEXT_VALUES - 1)
    expect(tryParseLimitedJson(list(MAX_TEXT_VALUES + 1))).toBeNull()
    expect(tryParseLimitedJsonObject(`{"a":${list(MAX_TEXT_VALUES)}}`)).toBeNull()
  })

  test('a text has at most 500 levels', () => {
    expect(tryParseLimitedJson(nest(MAX_JSON_DEPTH))).not.toBeNull()
    expect(tryParseLimitedJson(nest(MAX_JSON_DEPTH + 1))).toBeNull()
  })

  test('a long text with few values is parsed', () => {
    const value = { a: '[{,"\\'.repeat(500_000) }
    expect(tryParseLimitedJsonObject(JSON.stringify(value))).toEqual(value)
  })

  test('texts with one budget share its values, and a text that is not parsed uses none', () => {
    const budget = createJsonBudget()
    expect(tryParseLimitedJson(list(MAX_TEXT_VALUES + 1), budget)).toBeNull()
    for (let values = MAX_TOTAL_VALUES; values > 0; values -= MAX_TEXT_VALUES)
      expect(tryParseLimitedJson(list(MAX_TEXT_VALUES), budget)).not.toBeNull()
    expect(tryParseLimitedJson('{}', budget)).toBeNull()
    expect(tryParseLimitedJson('{}')).toEqual({})
  })

  test('JSON in base64 has the same limits', () => {
    const encode = (text: string) => Buffer.from(text).toString('base64')
    expect(decodeBase64Json(encode(list(MAX_TEXT_VALUES)))).toHaveLength(MAX_TEXT_VALUES - 1)
    for (const text of [list(MAX_TEXT_VALUES + 1), nest(MAX_JSON_DEPTH + 1), '{'])
      expect(decodeBase64Json(encode(text))).toBeNull()
  })
})
