/**
 * JSON as every upstream can read it. Half a character, which a client leaves where it cuts a text by
 * its length, is written by `JSON.stringify` as an escape that many readers refuse, and the whole
 * request with it: "The request body is not valid JSON: no low surrogate in string". In its place
 * goes the character that stands for one that is broken.
 */
export function wellFormedJson(value: unknown): string {
  return mended(JSON.stringify(value))
}

/** The body of a request, as if a client had written it. */
export function jsonBytes(value: unknown): Uint8Array {
  return utf8.encode(wellFormedJson(value))
}

/**
 * The bytes of a JSON that was read as `text`; the very same, if every character in them is whole. Bytes
 * that are no UTF-8 were read as broken characters, and are written as such.
 */
export function wellFormedBytes(bytes: Uint8Array, text: string): Uint8Array {
  const whole = mended(text)
  return whole === text && !text.includes(BROKEN) ? bytes : utf8.encode(whole)
}

function mended(text: string): string {
  // Most write whole characters as they are, so hardly any text has such an escape.
  return text.includes('\\ud') || text.includes('\\uD') ? text.replace(ESCAPE, oneMended) : text
}

/** An escaped backslash is looked at as well, for what follows it is no escape; and so are two halves. */
const ESCAPE = /\\(?:\\|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2})/gi
const BROKEN = '\ufffd'
const HALF = 6

function oneMended(escape: string): string {
  return escape.length === HALF ? BROKEN : escape
}

const utf8 = new TextEncoder()
