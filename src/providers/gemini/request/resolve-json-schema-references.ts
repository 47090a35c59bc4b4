/** Resolves `$ref` and `allOf` in a JSON schema. */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/**
 * Returns the schema that a reference such as `#/$defs/Name` points to; `#` is the root. Decodes
 * the escapes of JSON Pointer, e.g. `~1` → `/`.
 */
export function resolveReference(root: JsonObject, reference: string): JsonObject | null {
  if (!reference.startsWith('#')) return null
  let node: Json | undefined = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    if (!isObject(node)) return null
    node = node[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return isObject(node) ? node : null
}

/**
 * Merges the schemas of `allOf` into their parent. If several schemas have the same keyword, the
 * parent's value applies, otherwise that of the first schema in the list.
 */
export function mergeAllOf(node: JsonObject, root: JsonObject): JsonObject {
  const { allOf, ...rest } = node
  let merged: JsonObject = rest
  for (const part of listOrEmpty(allOf)) {
    if (!isObject(part)) continue
    const { $ref, ...keywords } = part
    const target = typeof $ref === 'string' ? resolveReference(root, $ref) : null
    merged = mergeSchemas(merged, { ...target, ...keywords })
  }
  return merged
}

function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const required = [...listOrEmpty(first['required']), ...listOrEmpty(second['required'])]
  const properties = { ...readProperties(second), ...readProperties(first) }
  return {
    ...second,
    ...first,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  }
}

function readProperties(schema: JsonObject): JsonObject {
  const properties = schema['properties']
  return isObject(properties) ? properties : {}
}
