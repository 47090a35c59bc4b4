/**
 * Reads a JSON Schema that somebody writes for what a model is to keep. It is held against whatever a
 * model comes up with, so it may take no longer than both are long: references and regular expressions
 * are none of the words that it may have.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import {
  asBoolean,
  asInteger,
  asList,
  asNumber,
  asObject,
  asOneOf,
  asString,
  createUnknownFieldError,
} from '../checks/check-json-types.ts'

export function checkWorkingMemorySchema(value: unknown, path: string): JsonObject {
  const schema = asObject(value, path)
  check(schema, path, MAX_DEPTH)
  const { length } = JSON.stringify(schema)
  if (length > MOST_CHARS)
    throw fault(path, `has ${length} characters, and ${MOST_CHARS} is the most`)
  return schema
}

/** The model is shown it with every question. */
const MOST_CHARS = 4000
const MAX_DEPTH = 16

/** `true` and `false` are schemas as well. */
function check(value: unknown, path: string, depth: number): void {
  if (typeof value === 'boolean') return
  if (depth === 0) throw fault(path, `is nested more than ${MAX_DEPTH} levels deep`)
  for (const [word, said] of Object.entries(asObject(value, path))) {
    const read = WORDS.get(word)
    if (read === undefined) throw createUnknownFieldError(`${path}.${word}`, [...WORDS.keys()])
    read(said, `${path}.${word}`, depth - 1)
  }
}

type Check = (value: unknown, path: string, depth: number) => unknown

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const asType = asOneOf(TYPES)

const oneType: Check = (value, path) => asType(asString(value, path), path)

const each =
  (one: Check): Check =>
  (value, path, depth) =>
    asList(value, path).forEach((entry, at) => one(entry, `${path}[${at}]`, depth))

const ofEach: Check = (value, path, depth) =>
  Object.entries(asObject(value, path)).forEach(([name, schema]) =>
    check(schema, `${path}.${name}`, depth),
  )

const count: Check = (value, path) => {
  if (asInteger(value, path) < 0) throw fault(path, 'is a number from 0')
}

const divisor: Check = (value, path) => {
  if (asNumber(value, path) <= 0) throw fault(path, 'is a number above 0')
}

const anything: Check = () => undefined

const WORDS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [
    'type',
    (value, path, depth) => (Array.isArray(value) ? each(oneType) : oneType)(value, path, depth),
  ],
  ['enum', asList],
  ['const', anything],
  ['properties', ofEach],
  ['required', each(asString)],
  ['additionalProperties', check],
  ['propertyNames', check],
  ['minProperties', count],
  ['maxProperties', count],
  ['items', check],
  ['prefixItems', each(check)],
  ['contains', check],
  ['minItems', count],
  ['maxItems', count],
  ['uniqueItems', asBoolean],
  ['minLength', count],
  ['maxLength', count],
  ['minimum', asNumber],
  ['maximum', asNumber],
  ['exclusiveMinimum', asNumber],
  ['exclusiveMaximum', asNumber],
  ['multipleOf', divisor],
  ['allOf', each(check)],
  ['anyOf', each(check)],
  ['oneOf', each(check)],
  ['not', check],
  ['if', check],
  ['then', check],
  ['else', check],
  ['title', asString],
  ['description', asString],
  ['default', anything],
  ['examples', asList],
  ['$schema', asString],
  ['$comment', asString],
])

function fault(path: string, what: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid value for '${path}': it ${what}.`, {
    param: path,
  })
}
