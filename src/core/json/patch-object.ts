/** Returns the object with changed fields and without those set to `undefined`; the same object if nothing changes. */
import type { Json, JsonObject } from './json.ts'

export function patchObject(
  object: JsonObject,
  changes: Readonly<Record<string, Json | undefined>>,
): JsonObject {
  let changed: Record<string, Json | undefined> | null = null
  for (const name of Object.keys(changes)) {
    const value = changes[name]
    if (value === object[name] && (value !== undefined || !(name in object))) continue
    changed ??= { ...object }
    if (value === undefined) delete changed[name]
    else changed[name] = value
  }
  return changed ?? object
}

/** Maps a list; returns the same list if `change` returns every entry unchanged. */
export function patchList<Entry>(
  list: readonly Entry[],
  change: (entry: Entry, index: number) => Entry,
): readonly Entry[] {
  const entries = list.map(change)
  return entries.every((entry, index) => entry === list[index]) ? list : entries
}
