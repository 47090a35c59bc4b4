/**
 * Reads what is sent to an upstream in a header. A request with anything else in it cannot be made.
 * A fault is an Error whose message completes "NAME …".
 */
import { readText } from './scalar-readers.ts'

/** Blanks around a value are no part of it: a key out of a file easily ends with a line break. */
export function readHeaderValue(raw: unknown): string {
  const value = readText(raw).trim()
  const [stranger] = /[^\t\x20-\x7E\x80-\xFF]/u.exec(value) ?? []
  if (stranger === undefined) return value
  // The value may be a secret and stays out of the message.
  throw new Error(`holds a character that no header can hold: ${codePoint(stranger)}.`)
}

/** As it is looked up: `U+201C` for a quotation mark of a word processor. */
function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

export function readHeaderName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name
  throw new Error('is not the name of one.')
}
