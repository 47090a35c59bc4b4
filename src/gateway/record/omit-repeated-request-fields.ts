/**
 * Omits large request fields that are the same as in the parent turn, before the request is stored. Clients send
 * the same tools and instructions with every request.
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

/** The minimum length of an omitted field. For shorter ones, the digest takes about as much space as the field. */
const MIN_DIGEST_CHARS = 100

/** Returns the text that is hashed for a field; empty for numbers, booleans and null, which are always stored. */
function serializeValue(value: Json | undefined): string {
  if (typeof value === 'string')
    return value.length < MIN_DIGEST_CHARS ? value : JSON.stringify(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ''
}
