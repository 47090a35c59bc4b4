/** What one JSON Schema says by pointing at another: `$ref` and `allOf`. */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** `#/$defs/Name`, with the escapes of JSON Pointer; `#` is the schema itself. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | null {
  if (!reference.startsWith('#')) return null
  let at: Json | undefined = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    if (!isObject(at)) return null
    at = at[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return isObject(at) ? at : null
}

/** Everything that `allOf` demands, in one schema. What is said first, and beside it, wins. */
export function mergeAllOf(node: JsonObject, root: JsonObject): JsonObject {
  const { allOf, ...rest } = node
  let whole: JsonObject = rest
  for (const part of listOrEmpty(allOf)) {
    if (!isObject(part)) continue
    const { $ref, ...plain } = part
    const target = typeof $ref === 'string' ? resolveReference(root, $ref) : null
    whole = joined(whole, { ...target, ...plain })
  }
  return whole
}

function joined(one: JsonObject, other: JsonObject): JsonObject {
  const required = [...listOrEmpty(one['required']), ...listOrEmpty(other['required'])]
  const properties = { ...fieldsOf(other), ...fieldsOf(one) }
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  }
}

function fieldsOf(schema: JsonObject): JsonObject {
  const properties = schema['properties']
  return isObject(properties) ? properties : {}
}
