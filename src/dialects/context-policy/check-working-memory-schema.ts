/**
 * Checks the JSON Schema that an operator or a client sets for working memory (`layers.schema`).
 * Rejects `$ref` and `pattern`: without them, the time to check a model's text grows only linearly
 * with the text and the schema.
 */
import type { JsonObject } from '../../core/json/json.ts'
import {
  asBoolean,
  asInteger,
  asList,
  asListOf,
  asNumber,
  asObject,
  asOneOf,
  asString,
  createInvalidValueError,
  createUnknownFieldError,
} from '../checks/check-json-types.ts'

export function checkWorkingMemorySchema(value: unknown, path: string): JsonObject {
  const schema = asObject(value, path)
  checkSchema(schema, path, MAX_DEPTH)
  const { length } = JSON.stringify(schema)
  if (length <= MAX_SCHEMA_CHARS) return schema
  const reason = `it has ${length} characters, and at most ${MAX_SCHEMA_CHARS} are accepted.`
  throw createInvalidValueError(path, reason)
}

/** Maximum length of the schema. It is limited because every request to the model contains it. */
const MAX_SCHEMA_CHARS = 4000
const MAX_DEPTH = 16

/**
 * Checks a schema or a nested schema, which may also be `true` or `false`. `depth` is the number of
 * levels that are still allowed.
 */
function checkSchema(value: unknown, path: string, depth: number): void {
  if (typeof value === 'boolean') return
  if (depth === 0) {
    throw createInvalidValueError(path, `it is nested more than ${MAX_DEPTH} levels deep.`)
  }
  for (const [keyword, keywordValue] of Object.entries(asObject(value, path))) {
    const check = KEYWORD_CHECKS.get(keyword)
    if (check === undefined) {
      throw createUnknownFieldError(`${path}.${keyword}`, [...KEYWORD_CHECKS.keys()])
    }
    check(keywordValue, `${path}.${keyword}`, depth - 1)
  }
}

type KeywordCheck = (value: unknown, path: string, depth: number) => unknown

const asTypeName = asOneOf(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

const checkType: KeywordCheck = (value, path) =>
  (Array.isArray(value) ? asListOf(asTypeName) : asTypeName)(value, path)

const checkSchemaList: KeywordCheck = (value, path, depth) =>
  asListOf((schema, schemaPath) => checkSchema(schema, schemaPath, depth))(value, path)

const checkSchemasByName: KeywordCheck = (value, path, depth) =>
  Object.entries(asObject(value, path)).forEach(([name, schema]) =>
    checkSchema(schema, `${path}.${name}`, depth),
  )

const checkCount: KeywordCheck = (value, path) => {
  if (asInteger(value, path) < 0) throw createInvalidValueError(path, 'it must be 0 or more.')
}

const checkDivisor: KeywordCheck = (value, path) => {
  if (asNumber(value, path) <= 0) throw createInvalidValueError(path, 'it must be more than 0.')
}

const acceptAnything: KeywordCheck = () => undefined

const KEYWORD_CHECKS: ReadonlyMap<string, KeywordCheck> = new Map<string, KeywordCheck>([
  ['type', checkType],
  ['enum', asList],
  ['const', acceptAnything],
  ['properties', checkSchemasByName],
  ['required', asListOf(asString)],
  ['additionalProperties', checkSchema],
  ['propertyNames', checkSchema],
  ['minProperties', checkCount],
  ['maxProperties', checkCount],
  ['items', checkSchema],
  ['prefixItems', checkSchemaList],
  ['contains', checkSchema],
  ['minItems', checkCount],
  ['maxItems', checkCount],
  ['uniqueItems', asBoolean],
  ['minLength', checkCount],
  ['maxLength', checkCount],
  ['minimum', asNumber],
  ['maximum', asNumber],
  ['exclusiveMinimum', asNumber],
  ['exclusiveMaximum', asNumber],
  ['multipleOf', checkDivisor],
  ['allOf', checkSchemaList],
  ['anyOf', checkSchemaList],
  ['oneOf', checkSchemaList],
  ['not', checkSchema],
  ['if', checkSchema],
  ['then', checkSchema],
  ['else', checkSchema],
  ['title', asString],
  ['description', asString],
  ['default', acceptAnything],
  ['examples', asList],
  ['$schema', asString],
  ['$comment', asString],
])
