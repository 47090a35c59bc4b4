/**
 * Reads the items of many or large turns: first claims memory for them, then reads and decodes them in slices, between
 * which other requests are served.
 */
import { MAX_STEP_CHARS } from '../../core/async/max-step-chars.ts'
import { yieldToEventLoop } from '../../core/async/yield-to-event-loop.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import { ITEM_OVERHEAD_BYTES } from '../recall/recall-store-interface.ts'

export interface SizedTurn {
  /** The size of a turn: text, media, and `ITEM_OVERHEAD_BYTES` for each item. */
  readonly bytes: number
}

export function sumBytes(turns: readonly SizedTurn[]): number {
  return turns.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * Turns up to this total size are read at once, by the statement that finds them. That is several steps
 * (`MAX_STEP_CHARS`), but each further round trip to a remote database would take longer.
 */
export const MAX_BYTES_AT_ONCE = 4 * MAX_STEP_CHARS

/** Claims the memory of loaded items. Small histories are not counted, because even many of them take little memory. */
export function claimItemMemory(bytes: number, items: number, claimMemory: ClaimMemory): void {
  const textBytes = Math.max(0, bytes - items * ITEM_OVERHEAD_BYTES)
  if (textBytes + items * VALUES_PER_ITEM < UNCOUNTED_SIZE) return
  claimMemory({ bytes: textBytes, values: items * VALUES_PER_ITEM })
}

/** A message has about this many JSON values. */
const VALUES_PER_ITEM = 6
const UNCOUNTED_SIZE = 16_384

/** Reads turns in slices of up to `MAX_BYTES_AT_ONCE`; a larger turn is a slice of its own. */
export async function readInSlices<Turn extends SizedTurn, Result>(
  turns: readonly Turn[],
  read: (slice: readonly Turn[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < turns.length;) {
    const to = findSliceEnd(turns, from)
    for (const result of await read(turns.slice(from, to))) results.push(result)
    await yieldToEventLoop()
    from = to
  }
  return results
}

function findSliceEnd(turns: readonly SizedTurn[], from: number): number {
  let bytes = 0
  for (let at = from; at < turns.length; at++) {
    bytes += turns[at]?.bytes ?? 0
    if (bytes > MAX_BYTES_AT_ONCE && at > from) return at
  }
  return turns.length
}
