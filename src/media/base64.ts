/** What can be told of data from the beginning of its base64. */
import { SNIFFED_BYTES } from './sniff-media.ts'

/** What it begins with; nothing, if that is not base64. */
export function firstBytes(base64: string): Uint8Array {
  try {
    const text = atob(base64.slice(0, (SNIFFED_BYTES / 3) * 4))
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
  } catch {
    return NOTHING
  }
}

const NOTHING = new Uint8Array()

/** Whether nothing can be in it: it is empty, or begins with what base64 has no letters for. */
export function holdsNothing(base64: string): boolean {
  return !/^\s*[\w+/-][\w+/=\s-]*$/.test(base64.slice(0, LOOKED_AT))
}

const LOOKED_AT = 64
