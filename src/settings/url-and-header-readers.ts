/**
 * Reads URLs, header names and header values in settings. An invalid one is rejected at the start,
 * because every request with it would fail. The functions throw an Error whose message continues
 * the setting's name (`must be …`).
 */
import { parseDatabaseUrl } from '../store/database/parse-database-url.ts'
import { readText } from './scalar-readers.ts'

/** Returns the trimmed URL without slashes at its end: ` http://x/v1/` → `http://x/v1`. */
export function readUrl(raw: unknown): string {
  const url = typeof raw === 'string' ? raw.trim() : ''
  // Rejects e.g. blanks: a path is appended to the URL as text, so they would not be escaped.
  if (URL.canParse(url) && /^(https?|demo):[\x21-\xFF]*$/.test(url)) {
    return url.replace(/\/+$/, '')
  }
  throw new Error(
    `must be an address that begins with http:// or https://, not ${JSON.stringify(raw)}.`,
  )
}

export function readDatabaseUrl(raw: unknown): string {
  const url = readText(raw)
  parseDatabaseUrl(url)
  return url
}

/**
 * Returns the trimmed value of a header, e.g. an API key. A key that was read from a file often ends with
 * a line break.
 */
export function readHeaderValue(raw: unknown): string {
  const value = readText(raw).trim()
  const [invalid] = /[^\t\x20-\x7E\x80-\xFF]/u.exec(value) ?? []
  if (invalid === undefined) return value
  // The message has only the invalid character, because the complete value may be a secret.
  throw new Error(`holds a character that no header can hold: ${formatCodePoint(invalid)}.`)
}

/** Formats a character by its code: `“` → `U+201C`. */
function formatCodePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

export function readHeaderName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  throw new Error('is not a valid header name.')
}
