/** What can be told of data from the beginning of its base64. */
import { SNIFF_LENGTH_BYTES } from './sniff-media-type.ts'

/** What it begins with; nothing, if that is not base64. It may have blanks in it, or the letters of URLs. */
export function decodeFirstBytes(base64: string): Uint8Array {
  const written = base64.slice(0, LOOKED_AT).replace(/\s+/g, '')
  const letters = written.replaceAll('-', '+').replaceAll('_', '/')
  try {
    // One letter alone is no byte.
    const text = atob(letters.length % 4 === 1 ? letters.slice(0, -1) : letters)
    const bytes = new Uint8Array(text.length)
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
    return bytes
  } catch {
    return NOTHING
  }
}

const NOTHING = new Uint8Array()

/** Whether nothing can be in it: it is empty, or begins with what base64 has no letters for. */
export function isEmptyOrInvalidBase64(base64: string): boolean {
  return !/^\s*[\w+/-][\w+/=\s-]*$/.test(base64.slice(0, LOOKED_AT))
}

const LOOKED_AT = (SNIFF_LENGTH_BYTES / 3) * 4
