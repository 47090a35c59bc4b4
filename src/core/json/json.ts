/** Defines plain JSON values and small helpers to read them. */
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

/** Returns `''` for anything but a string. */
export function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Returns an empty list for anything but a list. */
export function listOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** Reads an entry under a name from a client, which may be `constructor` or another inherited name. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Returns null for malformed JSON such as `{"a":`, and for the JSON text `null`. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns null for anything but the JSON text of an object. */
export function tryParseJsonObject(text: string): JsonObject | null {
  const json = tryParseJson(text)
  return isObject(json) ? json : null
}
