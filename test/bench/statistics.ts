/** Returns the median; null without values. */
export function median(values: readonly number[]): number | null {
  return percentile(values, 0.5)
}

export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]
  const above = sorted[Math.ceil(at)]
  if (below === undefined || above === undefined) return null
  return below + (above - below) * (at - Math.floor(at))
}
