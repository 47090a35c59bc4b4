/**
 * Writes and reads JSON without lone surrogates. A client that cuts a text by length can leave half of a
 * character, e.g. `\ud83d`. Many upstreams reject a request with such an escape ("not valid JSON: no low
 * surrogate in string"), so it is replaced by U+FFFD.
 */
import { createLazyValue } from '../caching/lazy-value.ts'
import { replaceLoneSurrogateEscapes } from './surrogate-escapes.ts'

export function stringifyWellFormed(value: unknown): string {
  const text = JSON.stringify(value)
  return MAY_BE_SURROGATE.test(text) ? decoder.decode(encodeWellFormedText(text)) : text
}

/** Encodes JSON text, or a part of one that ends in no escape. */
export function encodeWellFormedText(text: string): Uint8Array {
  const bytes = utf8.encode(text)
  return MAY_BE_SURROGATE.test(text) ? replaceLoneSurrogateEscapes(bytes) : bytes
}

/** Returns a function that encodes the body on its first call, because the bytes of most bodies are never needed. */
export function createLazyJsonBytes(body: unknown): () => Uint8Array {
  return createLazyValue(() => encodeWellFormedText(JSON.stringify(body)))
}

export interface WellFormedText {
  readonly text: string
  /** The UTF-8 bytes of `text`. If they are the input bytes, a byte order mark may come first. */
  readonly bytes: Uint8Array
}

/** Decodes JSON text and replaces lone surrogates. Returns the same bytes if nothing was replaced. */
export function decodeWellFormedText(bytes: Uint8Array): WellFormedText {
  const decoded = decoder.decode(bytes)
  const wellFormed = MAY_BE_SURROGATE.test(decoded) ? replaceLoneSurrogateEscapes(bytes) : bytes
  const text = wellFormed === bytes ? decoded : decoder.decode(wellFormed)
  return { text, bytes: text.includes(INVALID_UTF8) ? utf8.encode(text) : wellFormed }
}

/** Tested first, because few texts have such escapes. `includes` would be slower for many escapes of other kinds. */
const MAY_BE_SURROGATE = /\\u[dD]/

/** The decoder writes this character in place of invalid UTF-8. */
const INVALID_UTF8 = '\ufffd'

const utf8 = new TextEncoder()
const decoder = new TextDecoder()
