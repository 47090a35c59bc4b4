/**
 * Limits how deeply a JSON value may be nested. Functions that copy or write JSON are recursive, so a
 * deeper value could overflow the stack.
 */
export const MAX_JSON_DEPTH = 500

export function isNestedTooDeeply(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const entries: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return entries.some((entry) => isNestedTooDeeply(entry, levels - 1))
}
