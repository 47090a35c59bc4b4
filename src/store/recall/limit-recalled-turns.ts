/**
 * Limits the number and the total size of the turns that a search returns. If all turns are within
 * the limits, returns the same list, otherwise the latest turns.
 *
 * The oldest turns are excluded in steps of a quarter of the limit, so that a chat beyond the limit
 * begins with the same turn in many requests. A single turn that is larger than the limit is left
 * out, and the others stay.
 */
import { MAX_RECALLED_BYTES, MAX_RECALLED_TURNS, BOUND_STEPS } from './recall-store-interface.ts'

export interface SizedTurn {
  readonly id: string
  readonly bytes: number
}

export function limitRecalledTurns<Turn extends SizedTurn>(
  turns: readonly Turn[],
): readonly Turn[] {
  if (turns.length <= MAX_RECALLED_TURNS && sumBytes(turns) <= MAX_RECALLED_BYTES) return turns
  // Sorts by time, because turn ids begin with the time.
  const sorted = turns.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const latest = sorted
    .slice(excludedAmount(turns.length, MAX_RECALLED_TURNS))
    .filter(({ bytes }) => bytes <= MAX_RECALLED_BYTES)
  const from = excludedAmount(sumBytes(latest), MAX_RECALLED_BYTES)
  let bytesSoFar = 0
  return latest.filter(({ bytes }) => {
    bytesSoFar += bytes
    return bytesSoFar - bytes >= from
  })
}

function sumBytes(turns: readonly SizedTurn[]): number {
  let sum = 0
  for (const { bytes } of turns) sum += bytes
  return sum
}

/** Returns the amount to exclude: the fewest steps after which the rest is within the limit. */
function excludedAmount(total: number, limit: number): number {
  const step = limit / BOUND_STEPS
  return total <= limit ? 0 : Math.ceil((total - limit) / step) * step
}
