/**
 * JSON as every upstream can read it. Half a character, which a client leaves where it cuts a text by
 * its length, is written by `JSON.stringify` as an escape that many readers refuse, and the whole
 * request with it: "The request body is not valid JSON: no low surrogate in string". In its place
 * goes the character that stands for one that is broken.
 */
import { createLazyValue } from '../caching/lazy-value.ts'

export function stringifyWellFormed(value: unknown): string {
  return mended(JSON.stringify(value))
}

/**
 * A body as if a client had written it. Most are never sent as they are, and a long one is long to write:
 * it is written when somebody asks for it, and once.
 */
export function createLazyJsonBytes(body: unknown): () => Uint8Array {
  return createLazyValue(() => utf8.encode(stringifyWellFormed(body)))
}

export interface WellFormedText {
  readonly text: string
  /** That very text, but for a byte order mark in front of it. */
  readonly bytes: Uint8Array
}

/**
 * A JSON as it came: the very same bytes, if every character in them is whole. What is no UTF-8 is read
 * as broken characters, and written as such.
 */
export function readWellFormed(bytes: Uint8Array): WellFormedText {
  const read = decoder.decode(bytes)
  const text = mended(read)
  const isWhole = text === read && !read.includes(BROKEN)
  return { text, bytes: isWhole ? bytes : utf8.encode(text) }
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
const decoder = new TextDecoder()
