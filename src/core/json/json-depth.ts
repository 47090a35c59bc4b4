/**
 * How deep a JSON may be nested. Whoever writes a value again needs a stack as deep as that, and finds
 * out in the middle of it that there is none.
 */
export const MAX_JSON_DEPTH = 500

export function isNestedTooDeeply(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const one of value) if (isNestedTooDeeply(one, levels - 1)) return true
    return false
  }
  // What is parsed has no fields but its own.
  for (const name in value) {
    if (isNestedTooDeeply((value as Record<string, unknown>)[name], levels - 1)) return true
  }
  return false
}
