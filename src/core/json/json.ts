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

/** The text, `''` for anything that is none. */
export function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The list, an empty one for anything that is none. */
export function listOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** What a record itself has under a name that anybody may have chosen, `constructor` for one. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** `null` for what is not JSON, and for JSON's own null. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `null` for what is not a JSON object. */
export function tryParseJsonObject(text: string): JsonObject | null {
  const json = tryParseJson(text)
  return isObject(json) ? json : null
}
