/**
 * Creates the smallest arguments that match a schema, e.g. `{"city": "demo"}`. Ignores invalid
 * parts of the schema.
 */
import { isObject, readOwnValue, type Json, type JsonObject } from '../../core/json/json.ts'

export function createSampleArguments(schema: JsonObject): JsonObject {
  const { properties: declared, required } = schema
  const properties = isObject(declared) ? declared : {}
  const names: readonly Json[] = Array.isArray(required) ? required : Object.keys(properties)
  return Object.fromEntries(
    names
      .filter((name) => typeof name === 'string')
      .map((name) => [name, createSampleValue(readOwnValue(properties, name))]),
  )
}

function createSampleValue(schema: Json | undefined): Json {
  const { type = null, enum: choices } = isObject(schema) ? schema : {}
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as Json
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  return type === 'object' && isObject(schema) ? createSampleArguments(schema) : 'demo'
}
