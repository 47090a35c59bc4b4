/** The fields of an object that are not known by name; `null` if there are none, as is usual. */
import type { JsonObject } from '../../../core/json/json.ts'

export function pickUnknownFields(
  object: JsonObject,
  known: ReadonlySet<string>,
): JsonObject | null {
  let hasRest = false
  for (const name in object) {
    if (known.has(name) || object[name] === null) continue
    hasRest = true
    break
  }
  if (!hasRest) return null
  const rest = Object.entries(object).filter(([name, value]) => !known.has(name) && value !== null)
  return Object.fromEntries(rest)
}
