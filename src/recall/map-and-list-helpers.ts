/** Helpers for maps of lists, sorted lists, and lists in which some values are `null`. */

/**
 * Appends a value to the list that a map has for a key; creates the list for the first value. For
 * example, adding `3` for `'a'` to `{a: [1]}` gives `{a: [1, 3]}`.
 */
export function appendToGroup<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [value])
  else group.push(value)
}

/**
 * Searches sorted numbers: returns the index of the first one that is at least `minimum`, e.g.
 * `([2, 5, 9], 4)` → 1. Returns the array's length if all are smaller.
 */
export function findLowerBound(ascending: readonly number[], minimum: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < minimum) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns for each index the last value before it that is not `null`: `[a, null, b]` → `[null, a,
 * a]`.
 */
export function listPreviousValues<Value>(
  values: readonly (Value | null)[],
): readonly (Value | null)[] {
  let latest: Value | null = null
  return values.map((value) => {
    const previous = latest
    latest = value ?? latest
    return previous
  })
}
