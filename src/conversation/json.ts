/** Plain JSON, as it comes from and goes to a wire. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

export type JsonObject = { readonly [key: string]: Json | undefined }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `null` for what is not JSON, and for JSON's own null. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `null` for what is not a JSON object. */
export function parsedObject(text: string): JsonObject | null {
  const json = parsedJson(text)
  return isObject(json) ? json : null
}
