/**
 * Of all turns that were found the newest, as many of them as are whole within the bounds: the very
 * same list, if that is all of them.
 *
 * How much is left out of what lies before them is told in steps, and from the oldest turn on, so
 * that a chat beyond the bounds begins with the same turn for as long as a step lasts. A turn that is
 * beyond them by itself is left out, and the others stay.
 */
import { MAX_RECALLED_BYTES, MAX_RECALLED_TURNS, BOUND_STEPS } from './recall-store-interface.ts'

export interface SizedTurn {
  readonly id: string
  readonly bytes: number
}

export function limitRecalledTurns<Turn extends SizedTurn>(
  turns: readonly Turn[],
): readonly Turn[] {
  if (turns.length <= MAX_RECALLED_TURNS && bytesOf(turns) <= MAX_RECALLED_BYTES) return turns
  // Ids begin with the time.
  const inOrder = turns.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const newest = inOrder
    .slice(leftOut(turns.length, MAX_RECALLED_TURNS))
    .filter(({ bytes }) => bytes <= MAX_RECALLED_BYTES)
  const from = leftOut(bytesOf(newest), MAX_RECALLED_BYTES)
  let before = 0
  return newest.filter(({ bytes }) => {
    before += bytes
    return before - bytes >= from
  })
}

function bytesOf(turns: readonly SizedTurn[]): number {
  let sum = 0
  for (const { bytes } of turns) sum += bytes
  return sum
}

/** As few whole steps as bring the rest within the bound. */
function leftOut(total: number, bound: number): number {
  const step = bound / BOUND_STEPS
  return total <= bound ? 0 : Math.ceil((total - bound) / step) * step
}
