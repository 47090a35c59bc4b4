/**
 * Removes the keywords from a schema that the API cannot enforce, e.g. `minLength`. The API rejects
 * them in a schema for structured output and in the schema of a strict tool.
 *
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

export interface SimplifiedSchema {
  readonly schema: JsonObject
  /** The keywords that were removed from the schema, e.g. `minLength`. */
  readonly droppedKeywords: readonly string[]
}

export function simplifyOutputSchema(schema: JsonObject): SimplifiedSchema {
  const lost = new Set<string>()
  return { schema: keepEnforceable(schema, lost), droppedKeywords: [...lost] }
}

const SUPPORTED_KEYWORDS: ReadonlySet<string> = new Set(
  `$schema $ref $defs definitions type title description properties required additionalProperties
  items enum const default anyOf allOf oneOf nullable format`.split(/\s+/),
)

const SUPPORTED_FORMATS: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
)

const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])
const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

function keepEnforceable(schema: JsonObject, lost: Set<string>): JsonObject {
  const keywords: [string, Json | undefined][] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'additionalProperties') continue
    const isKept =
      keyword === 'format' ? SUPPORTED_FORMATS.has(value) : SUPPORTED_KEYWORDS.has(keyword)
    // The API enforces `minItems` only if it is 0 or 1.
    if (isKept || (keyword === 'minItems' && (value === 0 || value === 1))) {
      keywords.push([keyword === 'oneOf' ? 'anyOf' : keyword, simplifyNested(keyword, value, lost)])
    } else lost.add(keyword)
  }
  if (isObjectSchema(schema)) {
    // The API requires `additionalProperties: false` in every object schema.
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
