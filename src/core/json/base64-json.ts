/** JSON as text that stands in one word: what a client is to keep and not to read. */
import type { JsonObject } from './json.ts'

export function encodeBase64Json(value: JsonObject): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  let binary = ''
  for (let at = 0; at < bytes.length; at += SLICE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + SLICE))
  }
  return btoa(binary)
}

/** So many arguments a function may have without a thought. */
const SLICE = 8192

/** `null` for what is not that. */
export function decodeBase64Json(base64: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}
