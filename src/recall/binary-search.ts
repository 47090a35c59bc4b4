/** The index of the first of these places, which rise, that is not before this one. */
export function findLowerBound(places: readonly number[], from: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((places[middle] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return low
}
