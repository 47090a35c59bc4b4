/** Decodes and checks the start of base64 data. */
import { SNIFF_LENGTH_BYTES } from './sniff-media-type.ts'

/**
 * Returns the first 48 bytes of a base64 text, or an empty array if the text is not base64. Accepts
 * whitespace and the URL-safe alphabet (`-`, `_`).
 */
export function decodeFirstBytes(base64: string): Uint8Array {
  const base64Start = base64.slice(0, CHECKED_CHARS).replace(/\s+/g, '')
  const standard = base64Start.replaceAll('-', '+').replaceAll('_', '/')
  try {
    // Cuts off a single trailing character: it encodes no complete byte, and `atob` rejects it.
    const text = atob(standard.length % 4 === 1 ? standard.slice(0, -1) : standard)
    const bytes = new Uint8Array(text.length)
    for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index)
    return bytes
  } catch {
    return NO_BYTES
  }
}

const NO_BYTES = new Uint8Array()

/** True if the data is empty or starts with characters that are not base64. */
export function isEmptyOrStartsAsInvalidBase64(base64: string): boolean {
  return !/^\s*[\w+/-][\w+/=\s-]*$/.test(base64.slice(0, CHECKED_CHARS))
}

const CHECKED_CHARS = (SNIFF_LENGTH_BYTES / 3) * 4
