/**
 * Writes and reads JSON without lone surrogates. A client that cuts a text by length can leave half a
 * character, which `JSON.stringify` writes as an escape such as `\ud83d`. Many upstreams then reject the
 * complete request: "The request body is not valid JSON: no low surrogate in string". The gateway
 * sends the replacement character U+FFFD instead.
 */
import { createLazyValue } from '../caching/lazy-value.ts'

export function stringifyWellFormed(value: unknown): string {
  return replaceLoneSurrogates(JSON.stringify(value))
}

/** Returns the JSON bytes of a body, encoded on the first call: most bodies are never sent unchanged. */
export function createLazyJsonBytes(body: unknown): () => Uint8Array {
  return createLazyValue(() => utf8.encode(stringifyWellFormed(body)))
}

export interface WellFormedText {
  readonly text: string
  /** The bytes of `text`; an unchanged input may also have a byte order mark at the start. */
  readonly bytes: Uint8Array
}

/** Decodes JSON text. Returns the same bytes if every character in them is valid UTF-8 and complete. */
export function readWellFormed(bytes: Uint8Array): WellFormedText {
  const decoded = decoder.decode(bytes)
  const text = replaceLoneSurrogates(decoded)
  const isUnchanged = text === decoded && !decoded.includes(REPLACEMENT)
  return { text, bytes: isUnchanged ? bytes : utf8.encode(text) }
}

function replaceLoneSurrogates(text: string): string {
  // Most clients do not escape surrogates at all, so this check skips nearly every text.
  if (!text.includes('\\ud') && !text.includes('\\uD')) return text
  return text.replace(ESCAPE, (escape) =>
    escape.length === LONE_SURROGATE_CHARS ? REPLACEMENT : escape,
  )
}

/**
 * Also matches an escaped backslash, so that `\\ud83d` is not mistaken for an escape, and a complete
 * pair, so that its halves are skipped.
 */
const ESCAPE = /\\(?:\\|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2})/gi
const REPLACEMENT = '\ufffd'
/** Length of `\ud83d`. */
const LONE_SURROGATE_CHARS = 6

const utf8 = new TextEncoder()
const decoder = new TextDecoder()
