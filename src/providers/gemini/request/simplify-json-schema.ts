/**
 * Converts JSON Schema to Gemini's subset of OpenAPI 3.0, because Gemini rejects unknown keywords
 * (https://ai.google.dev/api/caching#Schema). Resolves references and converts a list of types to
 * `anyOf`. Lists the keywords that it leaves out.
 */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { resolveReference, mergeAllOf } from './resolve-json-schema-references.ts'

export interface SimplifiedSchema {
  readonly schema: JsonObject
  /** The unsupported keywords that were left out, without duplicates. */
  readonly droppedKeywords: readonly string[]
}

/** Simplifies a schema. `keepsOrder` makes the model write properties in the order of the schema. */
export function simplifyJsonSchema(schema: JsonObject, keepsOrder = false): SimplifiedSchema {
  const state: Conversion = { root: schema, keepsOrder, dropped: new Set(), nodesLeft: MAX_NODES }
  const simple = convert(schema, state, [])
  return { schema: simple, droppedKeywords: [...state.dropped].toSorted() }
}

interface Conversion {
  readonly root: JsonObject
  readonly keepsOrder: boolean
  readonly dropped: Set<string>
  nodesLeft: number
}

/**
 * The references that were resolved on the way to the current schema. A repeated reference is not
 * resolved again, because the loop would not end.
 */
type Trail = readonly string[]

type MutableObject = Record<string, Json | undefined>

/**
 * The maximum number of schemas within the result. Without it, nested references could double the
 * result at every level.
 */
const MAX_NODES = 5000
const MAX_DEPTH = 40

/**
 * Replaces a schema that allows any value. Gemini requires a type, and a string can contain any
 * value as text.
 */
const ANY_SCHEMA: JsonObject = { type: 'string' }

const COPIED_KEYWORDS = `title minItems maxItems minLength maxLength pattern minimum maximum
  minProperties maxProperties`.split(/\s+/)

const FORMATS = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64'])

/**
 * Keywords that are converted, or that carry no information for a model. `droppedKeywords` does not
 * list them.
 */
const HANDLED_KEYWORDS = new Set([
  ...COPIED_KEYWORDS,
  ...`$schema $id $defs $ref $comment definitions type description properties required items
  prefixItems enum const format nullable anyOf oneOf allOf`.split(/\s+/),
])

function convert(node: Json | undefined, state: Conversion, trail: Trail): JsonObject {
  if (!isObject(node)) return ANY_SCHEMA
  if (state.nodesLeft-- <= 0 || trail.length > MAX_DEPTH) return cutSchema(state, '$ref')
  const reference = node['$ref']
  if (typeof reference === 'string') return convertReference(node, reference, state, trail)
  if (Array.isArray(node['allOf']))
    return convert(mergeAllOf(node, state.root), state, [...trail, ''])
  for (const keyword in node) if (!HANDLED_KEYWORDS.has(keyword)) state.dropped.add(keyword)

  const { types, hasNull } = readTypes(node)
  const nullable = hasNull || node['nullable'] === true
  const branches = node['anyOf'] ?? node['oneOf']
  const inner = [...trail, '']
  const shape =
    Array.isArray(branches) && node['properties'] === undefined
      ? convertAlternatives(branches as readonly Json[], state, inner)
      : types.length > 1
        ? { anyOf: types.map((type) => convertType({ ...node, type }, type, state, inner)) }
        : convertType(node, types[0] ?? guessType(node), state, inner)
  return {
    ...shape,
    ...describeNode(node, shape),
    ...(nullable || shape['nullable'] === true ? { nullable: true } : {}),
  }
}

function cutSchema(state: Conversion, keyword: string): JsonObject {
  state.dropped.add(keyword)
  return { type: 'object' }
}

function convertReference(
  node: JsonObject,
  reference: string,
  state: Conversion,
  trail: Trail,
): JsonObject {
  if (trail.includes(reference)) return cutSchema(state, '$ref')
  const target = resolveReference(state.root, reference)
  if (target === null) return cutSchema(state, '$ref')
  const { $ref: _, ...beside } = node
  return convert({ ...target, ...beside }, state, [...trail, reference])
}

function readTypes(node: JsonObject): {
  readonly types: readonly string[]
  readonly hasNull: boolean
} {
  const type = node['type']
  const listed = (Array.isArray(type) ? (type as readonly Json[]) : [type]).filter(
    (name) => typeof name === 'string',
  )
  const types = listed.map((name) => name.toLowerCase())
  return { types: types.filter((name) => name !== 'null'), hasNull: types.includes('null') }
}

function guessType(node: JsonObject): string {
  if (node['properties'] !== undefined) return 'object'
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return 'array'
  const value = node['const'] ?? (Array.isArray(node['enum']) ? (node['enum'][0] as Json) : null)
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}

function convertAlternatives(
  branches: readonly Json[],
  state: Conversion,
  trail: Trail,
): JsonObject {
  const nonNull = branches.filter((branch) => !(isObject(branch) && branch['type'] === 'null'))
  const nullable = nonNull.length < branches.length ? { nullable: true } : {}
  const shapes = nonNull.map((branch) => convert(branch, state, trail))
  const [only = ANY_SCHEMA, second] = shapes
  return second === undefined ? { ...only, ...nullable } : { anyOf: shapes, ...nullable }
}

function convertType(node: JsonObject, type: string, state: Conversion, trail: Trail): JsonObject {
  const shape: MutableObject = { type }
  for (const keyword of COPIED_KEYWORDS)
    if (node[keyword] !== undefined) shape[keyword] = node[keyword]
  const format = node['format']
  if (typeof format === 'string' && FORMATS.has(format)) shape['format'] = format
  else if (format !== undefined) state.dropped.add('format')

  if (type === 'object') Object.assign(shape, convertProperties(node, state, trail))
  if (type === 'array') shape['items'] = convertItems(node, state, trail)
  const values = readChoices(node)
  if (values !== null && type === 'string') {
    // Gemini rejects `''` in `enum`.
    const choices = values.filter((value) => typeof value === 'string' && value !== '')
    if (choices.length > 0) shape['enum'] = choices
    if (values.includes(null)) shape['nullable'] = true
  }
  return shape
}

function convertProperties(node: JsonObject, state: Conversion, trail: Trail): JsonObject {
  const properties = node['properties']
  if (!isObject(properties)) return {}
  const names = Object.keys(properties)
  if (names.length === 0) return {}
  const fields: MutableObject = {}
  for (const name of names) fields[name] = convert(properties[name], state, trail)
  const listed = node['required']
  const required = Array.isArray(listed)
    ? [...new Set(listed as readonly Json[])].filter((name) => names.includes(name as string))
    : []
  return {
    properties: fields,
    ...(required.length === 0 ? {} : { required }),
    ...(state.keepsOrder ? { propertyOrdering: names } : {}),
  }
}

/**
 * Converts the schema of an array's items, which Gemini requires. The item schemas of a tuple
 * become alternatives: any item may match any of them.
 */
function convertItems(node: JsonObject, state: Conversion, trail: Trail): JsonObject {
  const items = node['prefixItems'] ?? node['items']
  return Array.isArray(items)
    ? convertAlternatives(items as readonly Json[], state, trail)
    : convert(items, state, trail)
}

function readChoices(node: JsonObject): readonly Json[] | null {
  if (node['const'] !== undefined) return [node['const']]
  return Array.isArray(node['enum']) ? (node['enum'] as readonly Json[]) : null
}

/**
 * Returns the description of a schema. If `enum` cannot be sent because its values are no strings,
 * adds them to the description: `One of: 1, 2.`
 */
function describeNode(node: JsonObject, shape: JsonObject): JsonObject {
  const text = textOrEmpty(node['description'])
  const values = shape['enum'] === undefined ? readChoices(node) : null
  const choice =
    values === null ? '' : `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`
  const description = [text, choice].filter((part) => part !== '').join(' ')
  return description === '' ? {} : { description }
}
