/** Encodes JSON as base64, which a client stores and sends back without reading it, and decodes that text. */
import type { JsonObject } from './json.ts'
import { isWithinLimits, type JsonBudget } from './limited-json.ts'

export function encodeBase64Json(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Returns the decoded JSON value; null if the text is not JSON in base64, or exceeds the limits of such JSON. */
export function decodeBase64Json(base64: string, budget?: JsonBudget): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    if (!isWithinLimits(bytes, budget)) return null
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}
