/**
 * Applies and creates JSON Merge Patches (RFC 7396): objects merge at every depth, other values
 * replace the previous value, `null` deletes a field. For example, `{"a":1,"b":2}` with the patch
 * `{"b":null}` gives `{"a":1}`. Field names that could change an object's prototype, e.g.
 * `__proto__`, are dropped at every depth.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * Returns the object with the changes of the patch; `null` if the patch or the result is nested
 * deeper than 32 levels.
 */
export function applyMergePatch(object: JsonObject, patch: JsonObject): JsonObject | null {
  if (!isNestedWithin(patch, MAX_NESTING_DEPTH)) return null
  const merged = mergeObjects(object, patch)
  return isNestedWithin(merged, MAX_NESTING_DEPTH) ? merged : null
}

export const MAX_NESTING_DEPTH = 32

/**
 * Returns a copy of an object without field names that could change a prototype, e.g. `__proto__`,
 * so that the object can be stored. Returns `null` if it is nested deeper than 32 levels.
 */
export function copySafeFields(object: JsonObject): JsonObject | null {
  return isNestedWithin(object, MAX_NESTING_DEPTH) ? (copySafely(object) as JsonObject) : null
}

/**
 * Returns the merge patch that turns `before` into `after`, e.g. `{"b":null}` to turn
 * `{"a":1,"b":2}` into `{"a":1}`.
 */
export function createMergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const removedNames = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const changed = Object.entries(after).flatMap(([name, value]): [string, Json][] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    if (value === undefined || JSON.stringify(old) === JSON.stringify(value)) return []
    return [[name, isObject(old) && isObject(value) ? createMergePatch(old, value) : value]]
  })
  return Object.fromEntries([...removedNames.map((name) => [name, null] as const), ...changed])
}

const UNSAFE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

function mergeObjects(before: JsonObject, changes: JsonObject): JsonObject {
  const merged = new Map<string, Json>()
  for (const [name, value] of Object.entries(before))
    if (value !== undefined) merged.set(name, value)
  for (const [name, value] of Object.entries(changes)) {
    if (UNSAFE_NAMES.has(name) || value === undefined) continue
    if (value === null) merged.delete(name)
    else if (isObject(value)) {
      const old = merged.get(name)
      merged.set(name, mergeObjects(isObject(old) ? old : {}, value))
    } else merged.set(name, copySafely(value))
  }
  return Object.fromEntries(merged)
}

function copySafely(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(copySafely)
  if (!isObject(value)) return value
  const safeEntries = Object.entries(value).flatMap(([name, nested]): [string, Json][] =>
    UNSAFE_NAMES.has(name) || nested === undefined ? [] : [[name, copySafely(nested)]],
  )
  return Object.fromEntries(safeEntries)
}

/**
 * True if the value has at most `depth` levels of objects and arrays. The check stops there, so
 * that a deeper value cannot overflow the stack.
 */
function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((nested) => isNestedWithin(nested, depth - 1))
}
