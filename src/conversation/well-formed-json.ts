/**
 * JSON as every upstream can read it. Half a character, which a client leaves where it cuts a text by
 * its length, is written by `JSON.stringify` as an escape that many readers refuse, and the whole
 * request with it: "The request body is not valid JSON: no low surrogate in string". In its place
 * goes the character that stands for one that is broken.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // Whole characters are written as they are, so hardly any text has such an escape.
  return text.includes('\\ud') ? text.replace(ESCAPE, mended) : text
}

/** An escaped backslash is looked at as well, for what follows it is no escape. */
const ESCAPE = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g

function mended(escape: string): string {
  return escape === '\\\\' ? escape : '\ufffd'
}
