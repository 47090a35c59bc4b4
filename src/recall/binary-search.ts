/**
 * Returns the index of the first number that is at least `minimum`; the array's length if all are
 * smaller, e.g. `([2, 5, 9], 4)` → 1. The numbers must be ascending.
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
