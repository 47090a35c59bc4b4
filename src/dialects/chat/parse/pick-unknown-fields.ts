/**
 * Picks the fields of a client's JSON object that the gateway does not know, e.g. `cache_control`.
 */
import type { JsonObject } from '../../../core/json/json.ts'

/** Returns the unknown fields whose value is not `null`; returns `null` if there are none. */
export function pickUnknownFields(
  object: JsonObject,
  known: ReadonlySet<string>,
): JsonObject | null {
  for (const name in object) {
    if (known.has(name) || object[name] === null) continue
    const entries = Object.entries(object)
    return Object.fromEntries(entries.filter(([key, value]) => !known.has(key) && value !== null))
  }
  return null
}
