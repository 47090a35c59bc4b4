/**
 * Converts a tool's schema to an object schema without alternatives, because the API rejects e.g.
 * `anyOf` at the root. The result has the properties of all alternatives. Returns the same object
 * if it is valid.
 */
import { type JsonObject, listOrEmpty, isObject } from '../../../core/json/json.ts'

export function mergeRootAlternatives(schema: JsonObject | null): JsonObject {
  if (schema === null) return { type: 'object', properties: {} }
  const { anyOf, oneOf, allOf, ...rest } = schema
  const alternatives = [anyOf, oneOf, allOf].filter((list) => list !== undefined)
  if (alternatives.length === 0)
    return schema['type'] === 'object' ? schema : { ...rest, type: 'object' }
  // Does not require the properties of `anyOf` and `oneOf`, because the arguments may match any of
  // these alternatives.
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
