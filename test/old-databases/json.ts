export type Json = string | number | boolean | null | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [name: string]: Json | undefined
}

export function objectIn(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}

export function listIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : []
}
