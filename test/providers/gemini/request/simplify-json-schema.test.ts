import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { simplifyJsonSchema } from '../../../../src/providers/gemini/request/simplify-json-schema.ts'
import { schemaFaults } from '../../../support/gemini-schema-laws.ts'

function simplify(schema: JsonObject): JsonObject {
  const { schema: result } = simplifyJsonSchema(schema)
  expect(schemaFaults(result, 'schema')).toEqual([])
  return result
}

test('schema keywords that Gemini supports stay unchanged', () => {
  const schema = {
    type: 'object',
    title: 'A city',
    properties: {
      name: { type: 'string', minLength: 1, pattern: '^[A-Z]', description: 'Its name' },
      rank: { type: 'integer', minimum: 1, maximum: 9, format: 'int32' },
      size: { type: 'string', enum: ['small', 'large'] },
      near: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    },
    required: ['name'],
  }
  expect(simplifyJsonSchema(schema)).toEqual({ schema, droppedKeywords: [] })
})

test('schema keywords that Gemini does not support are left out and listed', () => {
  const { schema, droppedKeywords } = simplifyJsonSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'x',
    type: 'object',
    additionalProperties: false,
    properties: {
      a: { type: 'number', exclusiveMinimum: 0, default: 1 },
      b: { type: 'string', format: 'uuid' },
      c: { type: 'object', patternProperties: {}, propertyNames: {} },
    },
  })
  expect(schema).toEqual({
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'string' }, c: { type: 'object' } },
  })
  expect(droppedKeywords).toEqual([
    'additionalProperties',
    'default',
    'exclusiveMinimum',
    'format',
    'patternProperties',
    'propertyNames',
  ])
})

test('a reference in a schema for Gemini is replaced by the definition', () => {
  const schema = simplify({
    type: 'object',
    properties: {
      home: { $ref: '#/$defs/Place', description: 'Where' },
      away: { $ref: '#/definitions/a~1b' },
    },
    $defs: { Place: { type: 'object', properties: { zip: { type: 'string' } } } },
    definitions: { 'a/b': { type: 'integer' } },
  })
  expect(schema).toEqual({
    type: 'object',
    properties: {
      home: { type: 'object', properties: { zip: { type: 'string' } }, description: 'Where' },
      away: { type: 'integer' },
    },
  })
})

describe('schemas with recursive references', () => {
  test('a schema for Gemini that contains itself is cut after one level', () => {
    const tree = {
      $ref: '#/$defs/Tree',
      $defs: {
        Tree: {
          type: 'object',
          properties: { left: { $ref: '#/$defs/Tree' }, value: { type: 'string' } },
        },
      },
    }
    expect(simplify(tree)).toEqual({
      type: 'object',
      properties: { left: { type: 'object' }, value: { type: 'string' } },
    })
    expect(simplifyJsonSchema(tree).droppedKeywords).toEqual(['$ref'])
  })

  test('schema references to the root and in allOf are resolved, and those to unknown definitions are cut', () => {
    simplify({
      type: 'object',
      properties: { me: { $ref: '#' }, who: { $ref: '#/nowhere' }, where: { $ref: 'https://a/b' } },
    })
    simplify({ $defs: { A: { allOf: [{ $ref: '#/$defs/A' }] } }, allOf: [{ $ref: '#/$defs/A' }] })
  })

  test('schema references that double at every level are cut at a limit', () => {
    const $defs: Record<string, JsonObject> = { d40: { type: 'string' } }
    for (let at = 0; at < 40; at++) {
      const next = { $ref: `#/$defs/d${at + 1}` }
      $defs[`d${at}`] = { type: 'object', properties: { a: next, b: next } }
    }
    const { schema } = simplifyJsonSchema({ $ref: '#/$defs/d0', $defs })
    expect(JSON.stringify(schema).length).toBeLessThan(100_000)
  })
})

test.each<[string, JsonObject, JsonObject]>([
  ['null among types', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
  ['null among values', { enum: ['a', null] }, { type: 'string', enum: ['a'], nullable: true }],
  [
    'null among alternatives',
    { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'D' },
    { type: 'integer', nullable: true, description: 'D' },
  ],
  [
    'oneOf',
    { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  [
    'several types',
    { type: ['integer', 'string'] },
    { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
  [
    'a choice of numbers',
    { type: 'integer', enum: [1, 2], description: 'Floor.' },
    { type: 'integer', description: 'Floor. One of: 1, 2.' },
  ],
  ['an empty choice', { type: 'string', enum: ['', 'a'] }, { type: 'string', enum: ['a'] }],
  ['anything', {}, { type: 'string' }],
  ['a list of anything', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
  ],
  [
    'allOf',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    },
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a', 'b'],
    },
  ],
  [
    'a required field that the schema does not have',
    { type: 'object', properties: { a: true }, required: ['a', 'ghost', 'a'] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
  ['an object without fields', { type: 'object', properties: {} }, { type: 'object' }],
])('the schema simplifier for Gemini converts %s', (_, schema, expected) => {
  const found = simplify(schema)
  // The expected schemas have the same keys in any order.
  expect(found).toEqual(expected)
})
