/**
 * Checks JSON against the published OpenAPI schemas: types, required fields, constants and nested values.
 * Supports the part of JSON Schema that these documents use.
 */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'
import { readShared, sharedExists } from './shared-files.ts'

const FILES = {
  openai: 'openapi/openai-responses-chat.json',
  'open-responses': 'openapi/open-responses-2026-04-24.json',
} as const

type Published = keyof typeof FILES

/** Returns a sentence for every violation; none if the schema files are missing. */
export function schemaFaults(
  published: Published,
  name: string,
  value: unknown,
): readonly string[] {
  if (!sharedExists) return []
  const schemas = schemasOf(published)
  const schema = schemas[name]
  if (!isObject(schema)) throw new Error(`There is no schema ${name}.`)
  return faultsIn(schema, value as Json, name, schemas)
}

const loaded = new Map<Published, JsonObject>()

function schemasOf(published: Published): JsonObject {
  const known = loaded.get(published)
  if (known !== undefined) return known
  const document = JSON.parse(readShared(FILES[published]).toString()) as {
    readonly components: { readonly schemas: JsonObject }
  }
  loaded.set(published, document.components.schemas)
  return document.components.schemas
}

function faultsIn(
  schema: JsonObject,
  value: Json | undefined,
  path: string,
  schemas: JsonObject,
): readonly string[] {
  const { $ref: reference, allOf, anyOf, oneOf } = schema
  if (typeof reference === 'string') {
    const target = schemas[reference.split('/').at(-1) ?? '']
    return isObject(target) ? faultsIn(target, value, path, schemas) : []
  }
  const inside = (list: Json | undefined) =>
    (Array.isArray(list) ? (list as readonly JsonObject[]) : []).map((one) =>
      faultsIn(one, value, path, schemas),
    )
  const choices = [...inside(anyOf), ...inside(oneOf)]
  const best = choices.toSorted((one, other) => rank(one) - rank(other))[0] ?? []
  return [...ownFaults(schema, value, path, schemas), ...inside(allOf).flat(), ...best]
}

/** Of several alternatives, the one whose constants match is meant. */
function rank(faults: readonly string[]): number {
  return faults.filter((fault) => fault.includes(' is not ')).length * 100 + faults.length
}

function ownFaults(
  schema: JsonObject,
  value: Json | undefined,
  path: string,
  schemas: JsonObject,
): readonly string[] {
  const { type, enum: words, const: only, properties, required, items } = schema
  if (type !== undefined && !typesOf(type).some((one) => isOfType(value, one))) {
    return schema['nullable'] === true && value === null
      ? []
      : [`${path} is not ${typesOf(type).join(' or ')} but ${formatValue(value)}`]
  }
  if (Array.isArray(words) && !words.includes(value)) {
    return [`${path} is not one of ${words.join(', ')} but ${formatValue(value)}`]
  }
  if (only !== undefined && only !== value)
    return [`${path} is not ${formatValue(only)} but ${formatValue(value)}`]
  if (Array.isArray(value)) {
    return isObject(items)
      ? value.flatMap((one: Json, at) => faultsIn(items, one, `${path}[${at}]`, schemas))
      : []
  }
  if (!isObject(value)) return []
  const missing = (Array.isArray(required) ? (required as readonly string[]) : [])
    .filter((name) => value[name] === undefined)
    .map((name) => `${path} has no ${name}`)
  const wrong = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, one]) =>
    value[name] === undefined || !isObject(one)
      ? []
      : faultsIn(one, value[name], `${path}.${name}`, schemas),
  )
  return [...missing, ...wrong]
}

function typesOf(type: Json): readonly string[] {
  return Array.isArray(type) ? (type as readonly string[]) : [type as string]
}

function isOfType(value: Json | undefined, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function formatValue(value: Json | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60)
}
