/** The index of the first of these places, which rise, that is not before this one. */
export function findLowerBound(ascending: readonly number[], minimum: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < minimum) low = middle + 1
    else high = middle
  }
  return low
}
