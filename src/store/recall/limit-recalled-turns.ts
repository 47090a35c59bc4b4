/**
 * Limits the number and the total size of the turns that a search returns. Returns the same list if
 * all turns are within the limits, otherwise only the latest turns.
 *
 * The oldest turns are excluded in steps of a quarter of the limit, so that a chat beyond the limit
 * begins with the same turn in many requests. A single turn that is larger than the limit is left
 * out, and the other turns stay.
 */
import { sumBytes, type SizedTurn } from '../turns/read-items-in-slices.ts'
import {
  MAX_RECALLED_BYTES,
  MAX_RECALLED_TURNS,
  STEPS_PER_LIMIT,
} from './recall-store-interface.ts'

export function limitRecalledTurns<Turn extends SizedTurn & { readonly id: string }>(
  turns: readonly Turn[],
  maxBytes = MAX_RECALLED_BYTES,
): readonly Turn[] {
  if (turns.length <= MAX_RECALLED_TURNS && sumBytes(turns) <= maxBytes) return turns
  // Sorts by time, because turn ids begin with the time.
  const sorted = turns.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const latest = sorted
    .slice(countExcluded(turns.length, MAX_RECALLED_TURNS))
    .filter(({ bytes }) => bytes <= maxBytes)
  const from = countExcluded(sumBytes(latest), maxBytes)
  let bytesSoFar = 0
  return latest.filter(({ bytes }) => {
    bytesSoFar += bytes
    return bytesSoFar - bytes >= from
  })
}

/**
 * Returns the number of turns or bytes to exclude, a multiple of a quarter of the limit. For
 * example, of 2,100 turns at a limit of 2,000, the oldest 500 are excluded.
 */
function countExcluded(total: number, limit: number): number {
  const step = limit / STEPS_PER_LIMIT
  return total <= limit ? 0 : Math.ceil((total - limit) / step) * step
}
