/** Checks which JSON schemas the Gemini API accepts: https://ai.google.dev/api/caching#Schema */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'

const KEYWORDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'anyOf',
  'propertyOrdering',
  'items',
  'minimum',
  'maximum',
])

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

export function schemaFaults(schema: JsonObject, at: string): readonly string[] {
  const faults: string[] = []
  for (const keyword of Object.keys(schema)) {
    if (!KEYWORDS.has(keyword))
      faults.push(`Unknown name "${keyword}" at '${at}': Cannot find field.`)
  }
  const { type, properties, items, anyOf, required, format } = schema
  if (anyOf === undefined && !TYPES.has(String(type))) {
    faults.push(`${at}.type: must be specified`)
  }
  if (type === 'array' && !isObject(items)) faults.push(`${at}.items: missing field.`)
  if (isObject(properties) && Object.keys(properties).length === 0) {
    faults.push(`${at}.properties: should be non-empty for OBJECT type`)
  }
  for (const name of (required ?? []) as readonly Json[]) {
    if (!isObject(properties) || properties[String(name)] === undefined) {
      faults.push(`${at}.required: property is not defined: ${String(name)}`)
    }
  }
  for (const value of (schema['enum'] ?? []) as readonly Json[]) {
    if (type !== 'string') faults.push(`${at}.enum: only allowed for STRING type`)
    if (typeof value !== 'string') faults.push(`Invalid value at '${at}.enum' (TYPE_STRING)`)
    if (value === '') faults.push(`${at}.enum[0]: cannot be empty`)
  }
  if (
    format !== undefined &&
    !/^(?:enum|date-time|float|double|int32|int64)$/.test(String(format))
  ) {
    faults.push(`${at}.format: only 'enum' and 'date-time' are supported for STRING type`)
  }
  for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
    if (isObject(inner)) faults.push(...schemaFaults(inner, `${at}.properties[${name}]`))
    else faults.push(`${at}.properties[${name}]: not a schema`)
  }
  if (isObject(items)) faults.push(...schemaFaults(items, `${at}.items`))
  for (const [place, inner] of ((anyOf ?? []) as readonly JsonObject[]).entries()) {
    faults.push(...schemaFaults(inner, `${at}.any_of[${place}]`))
  }
  return faults
}
