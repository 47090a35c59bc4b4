/** Encodes JSON as base64, which a client stores and sends back without reading it, and decodes that text. */
import type { JsonObject } from './json.ts'

export function encodeBase64Json(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Returns the decoded JSON value; null if the text is not JSON in base64. */
export function decodeBase64Json(base64: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}
