/** Defines the types of JSON values, and functions that read them safely. */
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

/** Returns the value if it is a string, else `''`. */
export function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the value if it is a list, else an empty list. */
export function listOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** Returns the record's own entry with this name. Names from clients may be those of inherited entries, e.g. `constructor`. */
export function readOwnValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Parses JSON; returns null if the text is malformed, e.g. `{"a":`, or is `null` itself. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Parses a JSON object; returns null if the text is malformed or another JSON value, e.g. `[1]`. */
export function tryParseJsonObject(text: string): JsonObject | null {
  const json = tryParseJson(text)
  return isObject(json) ? json : null
}
