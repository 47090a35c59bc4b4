/**
 * Checks names and values of the headers that are sent to upstreams, because an invalid character
 * makes every request fail. Throws an Error whose message completes "NAME …".
 */
import { readText } from './scalar-readers.ts'

/**
 * Reads the value of a header. Trims it, because a key that was read from a file often ends with a
 * line break.
 */
export function readHeaderValue(raw: unknown): string {
  const value = readText(raw).trim()
  const [invalid] = /[^\t\x20-\x7E\x80-\xFF]/u.exec(value) ?? []
  if (invalid === undefined) return value
  // The message contains only the invalid character, because the value may be a secret.
  throw new Error(`holds a character that no header can hold: ${formatCodePoint(invalid)}.`)
}

/** Formats a character: `“` → `U+201C`. */
function formatCodePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

export function readHeaderName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  throw new Error('is not a valid header name.')
}
