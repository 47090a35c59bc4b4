/**
 * Replaces characters that match `invalid` with spaces, and several spaces with one, e.g. `a:: b` →
 * `a b` for `/:/g`. Trims the result.
 */
export function sanitizeName(name: string, invalid: RegExp): string {
  return name.replace(invalid, ' ').replace(/ {2,}/g, ' ').trim()
}

/** Max length of the field `name` in OpenAI's API. */
export const MAX_NAME_CHARS = 64

/** Truncates a name to `MAX_NAME_CHARS` characters without splitting a surrogate pair. */
export function truncateName(name: string): string {
  return name
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd()
}
