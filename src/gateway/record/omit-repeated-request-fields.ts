/**
 * Omits large fields of a request that its parent turn has too, because clients send the same tools and
 * instructions with every request. A digest of each large field is stored instead, to compare it with that of the
 * next turn.
 */
import type { Json, JsonObject } from '../../core/json/json.ts'
import { digestText } from '../../core/text/digest.ts'
import type { FieldDigests } from '../../store/turns/turn-store-interface.ts'

export function omitRepeatedRequestFields(
  request: JsonObject,
  parentDigests: FieldDigests,
): { readonly request: JsonObject; readonly digests: FieldDigests } {
  const digests: Record<string, string> = {}
  const stored: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(request)) {
    const text = serializeValue(value)
    if (text.length < MIN_DIGEST_CHARS) {
      stored[name] = value
      continue
    }
    const digest = digestText(text)
    digests[name] = digest
    if (parentDigests[name] !== digest) stored[name] = value
  }
  return { request: stored, digests }
}

/**
 * The minimum length of a field with a digest. For a shorter field, a digest would take about as much space as the
 * field.
 */
const MIN_DIGEST_CHARS = 100

/** Returns the text to hash for a field; `''` for numbers, booleans and null, which are always stored. */
function serializeValue(value: Json | undefined): string {
  if (typeof value === 'string')
    return value.length < MIN_DIGEST_CHARS ? value : JSON.stringify(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ''
}
