/**
 * Limits how deeply a JSON value may be nested, because functions that copy or write it recurse and
 * would overflow the stack halfway.
 */
export const MAX_JSON_DEPTH = 500

export function isNestedTooDeeply(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const entry of value) if (isNestedTooDeeply(entry, levels - 1)) return true
    return false
  }
  // Parsed JSON has no inherited fields, so `for … in` needs no check.
  for (const name in value) {
    if (isNestedTooDeeply((value as Record<string, unknown>)[name], levels - 1)) return true
  }
  return false
}
