/**
 * JSON Schema as Gemini understands it: a part of OpenAPI 3.0, where an unknown keyword fails the
 * whole request (https://ai.google.dev/api/caching#Schema). Definitions are put in place, several
 * types become alternatives, what cannot be said is left out and named.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { resolveReference, mergeAllOf } from './resolve-json-schema-references.ts'

export interface SimplifiedSchema {
  readonly schema: JsonObject
  /** The keywords that were left out, each once. */
  readonly dropped: readonly string[]
}

/** `ordered` asks for the properties in the order in which the schema names them. */
export function simplifySchema(schema: JsonObject, ordered = false): SimplifiedSchema {
  const work: Work = { root: schema, ordered, dropped: new Set(), nodesLeft: MAX_NODES }
  const simple = convert(schema, work, [])
  return { schema: simple, dropped: [...work.dropped].toSorted() }
}

interface Work {
  readonly root: JsonObject
  readonly ordered: boolean
  readonly dropped: Set<string>
  nodesLeft: number
}

type Mutable = Record<string, Json | undefined>

/** References can nest, and can double at every step. */
const MAX_NODES = 5000
const MAX_DEPTH = 40

/** Stands where anything is allowed: a string always fits there. */
const ANYTHING: JsonObject = { type: 'string' }

const KEPT = [
  'title',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'minProperties',
  'maxProperties',
] as const

const FORMATS = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64'])

/** Read below, or without a meaning for a model. */
const SILENT = new Set<string>([
  ...KEPT,
  '$schema',
  '$id',
  '$defs',
  '$ref',
  '$comment',
  'definitions',
  'type',
  'description',
  'properties',
  'required',
  'items',
  'prefixItems',
  'enum',
  'const',
  'format',
  'nullable',
  'anyOf',
  'oneOf',
  'allOf',
])

/** `trail` is the way of references that led here: one that comes again would never end. */
function convert(node: Json | undefined, work: Work, trail: readonly string[]): JsonObject {
  if (!isObject(node)) return ANYTHING
  if (work.nodesLeft-- <= 0 || trail.length > MAX_DEPTH) return cut(work, '$ref')
  const reference = node['$ref']
  if (typeof reference === 'string') return resolved(node, reference, work, trail)
  if (Array.isArray(node['allOf']))
    return convert(mergeAllOf(node, work.root), work, [...trail, ''])
  for (const keyword in node) if (!SILENT.has(keyword)) work.dropped.add(keyword)

  const { types, hasNull } = typesOf(node)
  const nullable = hasNull || node['nullable'] === true
  const branches = node['anyOf'] ?? node['oneOf']
  const inner = [...trail, '']
  const shape =
    Array.isArray(branches) && node['properties'] === undefined
      ? alternatives(branches as readonly Json[], work, inner)
      : types.length > 1
        ? { anyOf: types.map((type) => shapeOf({ ...node, type }, type, work, inner)) }
        : shapeOf(node, types[0] ?? guessed(node), work, inner)
  return {
    ...shape,
    ...described(node, shape),
    ...(nullable || shape['nullable'] === true ? { nullable: true } : {}),
  }
}

function cut(work: Work, keyword: string): JsonObject {
  work.dropped.add(keyword)
  return { type: 'object' }
}

function resolved(
  node: JsonObject,
  reference: string,
  work: Work,
  trail: readonly string[],
): JsonObject {
  if (trail.includes(reference)) return cut(work, '$ref')
  const target = resolveReference(work.root, reference)
  if (target === null) return cut(work, '$ref')
  const { $ref: _, ...beside } = node
  return convert({ ...target, ...beside }, work, [...trail, reference])
}

function typesOf(node: JsonObject): {
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

function guessed(node: JsonObject): string {
  if (node['properties'] !== undefined) return 'object'
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return 'array'
  const value = node['const'] ?? (Array.isArray(node['enum']) ? (node['enum'][0] as Json) : null)
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}

function alternatives(branches: readonly Json[], work: Work, trail: readonly string[]): JsonObject {
  const some = branches.filter((branch) => !(isObject(branch) && branch['type'] === 'null'))
  const nullable = some.length < branches.length ? { nullable: true } : {}
  const shapes = some.map((branch) => convert(branch, work, trail))
  const [only = ANYTHING, second] = shapes
  return second === undefined ? { ...only, ...nullable } : { anyOf: shapes, ...nullable }
}

function shapeOf(node: JsonObject, type: string, work: Work, trail: readonly string[]): JsonObject {
  const shape: Mutable = { type }
  for (const keyword of KEPT) if (node[keyword] !== undefined) shape[keyword] = node[keyword]
  const format = node['format']
  if (typeof format === 'string' && FORMATS.has(format)) shape['format'] = format
  else if (format !== undefined) work.dropped.add('format')

  if (type === 'object') Object.assign(shape, fieldsOf(node, work, trail))
  if (type === 'array') shape['items'] = itemsOf(node, work, trail)
  const values = valuesOf(node)
  if (values !== null && type === 'string') {
    // An empty choice is refused.
    const choices = values.filter((value) => typeof value === 'string' && value !== '')
    if (choices.length > 0) shape['enum'] = choices
    if (values.includes(null)) shape['nullable'] = true
  }
  return shape
}

function fieldsOf(node: JsonObject, work: Work, trail: readonly string[]): JsonObject {
  const properties = node['properties']
  if (!isObject(properties)) return {}
  const names = Object.keys(properties)
  if (names.length === 0) return {}
  const fields: Mutable = {}
  for (const name of names) fields[name] = convert(properties[name], work, trail)
  const wanted = node['required']
  const required = Array.isArray(wanted)
    ? [...new Set(wanted as readonly Json[])].filter((name) => names.includes(name as string))
    : []
  return {
    properties: fields,
    ...(required.length === 0 ? {} : { required }),
    ...(work.ordered ? { propertyOrdering: names } : {}),
  }
}

/** A list must say what is in it; of a tuple that is any of its members. */
function itemsOf(node: JsonObject, work: Work, trail: readonly string[]): JsonObject {
  const items = node['prefixItems'] ?? node['items']
  return Array.isArray(items)
    ? alternatives(items as readonly Json[], work, trail)
    : convert(items, work, trail)
}

function valuesOf(node: JsonObject): readonly Json[] | null {
  if (node['const'] !== undefined) return [node['const']]
  return Array.isArray(node['enum']) ? (node['enum'] as readonly Json[]) : null
}

/** A choice of numbers can only be put in words. */
function described(node: JsonObject, shape: JsonObject): JsonObject {
  const own = node['description']
  const words = typeof own === 'string' ? own : ''
  const values = shape['enum'] === undefined ? valuesOf(node) : null
  const choice =
    values === null ? '' : `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`
  const description = [words, choice].filter((part) => part !== '').join(' ')
  return description === '' ? {} : { description }
}
