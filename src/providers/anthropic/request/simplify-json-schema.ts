/**
 * JSON schemas as this wire takes them. A tool's must be an object without alternatives at its root;
 * the one of a structured answer may use only what the grammar of the model can enforce.
 *
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** The very same object where nothing has to be changed. */
export function simplifyToolSchema(schema: JsonObject | null): JsonObject {
  if (schema === null) return { type: 'object', properties: {} }
  const { anyOf, oneOf, allOf, ...rest } = schema
  const roots = [anyOf, oneOf, allOf].filter((list) => list !== undefined)
  if (roots.length === 0) return schema['type'] === 'object' ? schema : { ...rest, type: 'object' }
  // Any of the alternatives may be meant: all their fields are offered, and none is demanded.
  const branches = roots.flatMap(listOrEmpty).filter(isObject)
  const all = listOrEmpty(allOf).filter(isObject)
  const required = [schema, ...all].flatMap((branch) => listOrEmpty(branch['required']))
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...[...branches, schema].map(propertiesOf)) as JsonObject,
    ...(required.length === 0 ? {} : { required }),
  }
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {}
}

export interface SimplifiedSchema {
  readonly schema: JsonObject
  /** The rules that were taken out. */
  readonly lost: readonly string[]
}

export function simplifyOutputSchema(schema: JsonObject): SimplifiedSchema {
  const lost = new Set<string>()
  return { schema: enforceable(schema, lost), lost: [...lost] }
}

const KEPT: ReadonlySet<string> = new Set([
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

const FORMATS: ReadonlySet<unknown> = new Set([
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

const HOLD_ONE: ReadonlySet<string> = new Set(['items'])
const HOLD_LIST: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])
const HOLD_NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

function enforceable(schema: JsonObject, lost: Set<string>): JsonObject {
  const kept: [string, Json | undefined][] = []
  for (const [word, value] of Object.entries(schema)) {
    if (word === 'additionalProperties') continue
    const isKept = word === 'format' ? FORMATS.has(value) : KEPT.has(word)
    // 0 and 1 are the only lengths that the grammar knows.
    if (isKept || (word === 'minItems' && (value === 0 || value === 1))) {
      kept.push([word === 'oneOf' ? 'anyOf' : word, within(word, value, lost)])
    } else lost.add(word)
  }
  // Every object has to say so.
  if (isObjectSchema(schema)) {
    kept.push(['additionalProperties', false])
    if ((schema['additionalProperties'] ?? false) !== false) lost.add('additionalProperties')
  }
  return Object.fromEntries(kept)
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return (
    properties !== undefined ||
    type === 'object' ||
    (Array.isArray(type) && type.includes('object'))
  )
}

function within(word: string, value: Json | undefined, lost: Set<string>): Json | undefined {
  if (HOLD_ONE.has(word) && isObject(value)) return enforceable(value, lost)
  if (HOLD_LIST.has(word)) {
    return listOrEmpty(value).map((one) => (isObject(one) ? enforceable(one, lost) : one))
  }
  if (!HOLD_NAMED.has(word) || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isObject(one) ? enforceable(one, lost) : one,
    ]),
  )
}
