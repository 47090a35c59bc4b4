/**
 * Converts JSON schemas to the subset of this wire. A tool's schema must be an object without
 * alternatives at its root; a schema of structured output may use only rules that the API's grammar
 * can enforce.
 *
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** Returns the same object if nothing has to change. */
export function simplifyToolSchema(schema: JsonObject | null): JsonObject {
  if (schema === null) return { type: 'object', properties: {} }
  const { anyOf, oneOf, allOf, ...rest } = schema
  const alternatives = [anyOf, oneOf, allOf].filter((list) => list !== undefined)
  if (alternatives.length === 0)
    return schema['type'] === 'object' ? schema : { ...rest, type: 'object' }
  // The model may mean any of the alternatives: all their properties are offered, and none is
  // required.
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
  /** The rules that were taken out. */
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
  // The API requires this of every object.
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
