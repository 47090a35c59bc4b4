/**
 * Writes and reads JSON without lone surrogates. A client that cuts a text by length can leave half of a
 * character, e.g. `\ud83d`. Many upstreams reject a request with such an escape ("not valid JSON: no low
 * surrogate in string"), so it is replaced by the character U+FFFD.
 */
import { createLazyValue } from '../caching/lazy-value.ts'

export function stringifyWellFormed(value: unknown): string {
  return replaceLoneSurrogates(JSON.stringify(value))
}

/** Returns a function that encodes the body on its first call, because the bytes of most bodies are never needed. */
export function createLazyJsonBytes(body: unknown): () => Uint8Array {
  return createLazyValue(() => utf8.encode(stringifyWellFormed(body)))
}

export interface WellFormedText {
  readonly text: string
  /** The UTF-8 bytes of `text`. If they are the input bytes, a byte order mark may come first. */
  readonly bytes: Uint8Array
}

/** Decodes JSON text and replaces lone surrogates. Returns the same bytes if nothing was replaced. */
export function decodeWellFormedText(bytes: Uint8Array): WellFormedText {
  const decoded = decoder.decode(bytes)
  const text = replaceLoneSurrogates(decoded)
  const isUnchanged = text === decoded && !decoded.includes(REPLACEMENT)
  return { text, bytes: isUnchanged ? bytes : utf8.encode(text) }
}

function replaceLoneSurrogates(text: string): string {
  // Skips the slow replacement for most texts, because few clients escape surrogates at all.
  if (!text.includes('\\ud') && !text.includes('\\uD')) return text
  return text.replace(ESCAPE, (escape) =>
    escape.length === LONE_SURROGATE_CHARS ? REPLACEMENT : escape,
  )
}

/**
 * Matches a lone surrogate escape. Also matches a valid pair of escapes and an escaped backslash, so that
 * their second half is not taken for a lone escape: in `\\ud83d`, the text `ud83d` is no escape.
 */
const ESCAPE = /\\(?:\\|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2})/gi
const REPLACEMENT = '\ufffd'
/** Length of a lone escape such as `\ud83d`; a pair is longer, an escaped backslash shorter. */
const LONE_SURROGATE_CHARS = 6

const utf8 = new TextEncoder()
const decoder = new TextDecoder()
