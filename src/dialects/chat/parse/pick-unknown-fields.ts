/** Picks the fields of an object whose names are not known and whose values are not `null`. */
import type { JsonObject } from '../../../core/json/json.ts'

/** Returns `null` if there are none, which is the usual case and creates no object. */
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
