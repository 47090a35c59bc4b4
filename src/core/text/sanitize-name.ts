/**
 * Replaces each sequence of characters that match `invalid` with one space and trims the result, e.g.
 * `a:: b` → `a b` for `/:/g`.
 */
export function sanitizeName(name: string, invalid: RegExp): string {
  return name.replace(invalid, ' ').replace(/ {2,}/g, ' ').trim()
}

/** Max length of OpenAI's `name` field. */
export const MAX_NAME_CHARS = 64

/** Returns the first `MAX_NAME_CHARS` characters without cutting a surrogate pair in half. */
export function truncateName(name: string): string {
  return name
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd()
}
