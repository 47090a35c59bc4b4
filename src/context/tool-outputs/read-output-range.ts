/**
 * Reads a part of a stored tool output, for a model that was sent the output cut (`capOutputs`). Character
 * positions count over all texts of the output without markers, as in the note of the cut output.
 */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { splitsSurrogatePair } from './split-head-and-tail.ts'
import { stripItemMarkers } from '../cleaning/strip-markers-from-prompt.ts'

export interface OutputRange {
  readonly from?: number
  readonly to?: number
  /** The limit for any requested range, because the result is a tool output in turn. */
  readonly maxChars: number
}

export interface OutputSlice {
  readonly text: string
  readonly from: number
  readonly to: number
  /** The length of the complete output. */
  readonly chars: number
}

/**
 * Returns the range of the latest output with this call id (some providers reuse ids), or `null` if there
 * is no such output. `items` are the stored items.
 */
export function readOutputRange(
  items: readonly Item[],
  callId: string,
  { from = 0, to = Infinity, maxChars }: OutputRange,
): OutputSlice | null {
  const stored = items.findLast((item) => isToolOutput(item) && item.call_id === callId)
  const output = stored === undefined ? undefined : stripItemMarkers(stored)
  if (output === undefined || !isToolOutput(output)) return null
  const text = textOf(output.output)
  const chars = text.length
  const requestedStart = Math.min(Math.max(0, Math.floor(from)), chars)
  // A surrogate pair is never split; the next range begins with the pair that this one leaves out.
  const start = splitsSurrogatePair(text, requestedStart) ? requestedStart - 1 : requestedStart
  const requestedEnd = Math.min(Math.max(start, Math.floor(to)), start + maxChars, chars)
  const end = splitsSurrogatePair(text, requestedEnd) ? requestedEnd - 1 : requestedEnd
  return { text: text.slice(start, end), from: start, to: end, chars }
}
