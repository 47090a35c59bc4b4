/**
 * Converts JSON schemas to the subset that this wire accepts. The root of a tool's schema must be
 * an object without alternatives such as `anyOf`. A schema of structured output may contain only
 * rules that the API's grammar can enforce.
 *
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** Returns a schema that is valid for a tool; the same object if it is valid already. */
export function simplifyToolSchema(schema: JsonObject | null): JsonObject {
  if (schema === null) return { type: 'object', properties: {} }
  const { anyOf, oneOf, allOf, ...rest } = schema
  const alternatives = [anyOf, oneOf, allOf].filter((list) => list !== undefined)
  if (alternatives.length === 0)
    return schema['type'] === 'object' ? schema : { ...rest, type: 'object' }
  // Offers the properties of all alternatives and requires none, because the model may choose any
  // alternative.
  const branches = alternatives.flatMap(listOrEmpty).filter(isObject)
  const all = listOrEmpty(allOf).filter(isObject)
  const required = [schema, ...all].flatMap((branch) => listOrEmpty(branch['required']))
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...[...branches, schema].map(readProperties)) as JsonObject,
    ...(required.length === 0 ? {} : { required }),
  }
}

function readProperties({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {}
}

export interface SimplifiedSchema {
  readonly schema: JsonObject
  /** The rules that were removed from the schema, e.g. `minLength`. */
  readonly lost: readonly string[]
}

export function simplifyOutputSchema(schema: JsonObject): SimplifiedSchema {
  const lost = new Set<string>()
  return { schema: keepEnforceable(schema, lost), lost: [...lost] }
}

const SUPPORTED_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$ref',
  '$defs',
  'definitions',
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'default',
  'anyOf',
  'allOf',
  'oneOf',
  'nullable',
  'format',
])

const SUPPORTED_FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])
const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

function keepEnforceable(schema: JsonObject, lost: Set<string>): JsonObject {
  const keywords: [string, Json | undefined][] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'additionalProperties') continue
    const isKept =
      keyword === 'format' ? SUPPORTED_FORMATS.has(value) : SUPPORTED_KEYWORDS.has(keyword)
    // The grammar supports `minItems: 0` and `minItems: 1` only.
    if (isKept || (keyword === 'minItems' && (value === 0 || value === 1))) {
      keywords.push([keyword === 'oneOf' ? 'anyOf' : keyword, simplifyNested(keyword, value, lost)])
    } else lost.add(keyword)
  }
  // The API requires `additionalProperties: false` in every object schema.
  if (isObjectSchema(schema)) {
    keywords.push(['additionalProperties', false])
    if ((schema['additionalProperties'] ?? false) !== false) lost.add('additionalProperties')
  }
  return Object.fromEntries(keywords)
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return (
    properties !== undefined ||
    type === 'object' ||
    (Array.isArray(type) && type.includes('object'))
  )
}

function simplifyNested(
  keyword: string,
  value: Json | undefined,
  lost: Set<string>,
): Json | undefined {
  const simplify = <Value>(schema: Value): Value | JsonObject =>
    isObject(schema) ? keepEnforceable(schema, lost) : schema
  if (keyword === 'items') return simplify(value)
  if (SCHEMA_LIST_KEYWORDS.has(keyword)) return listOrEmpty(value).map(simplify)
  if (!SCHEMA_MAP_KEYWORDS.has(keyword) || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, simplify(schema)]))
}
