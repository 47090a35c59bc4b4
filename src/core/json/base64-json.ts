/** Encodes JSON as base64 text that a client stores and sends back without reading it, and decodes it. */
import type { JsonObject } from './json.ts'

export function encodeBase64Json(value: JsonObject): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
  }
  return btoa(binary)
}

/** Each byte becomes an argument of one call, and engines limit the number of arguments. */
const CHUNK_BYTES = 8192

/** Returns null for text that is not base64 of JSON. */
export function decodeBase64Json(base64: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}
