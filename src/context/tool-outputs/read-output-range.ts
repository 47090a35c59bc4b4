/**
 * Reads a part of a stored tool output, for a model that was sent only its beginning and end (`cap-outputs.ts`).
 * Positions are counted in the joined texts of the output without markers, like those in the note that replaced the
 * middle.
 */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { splitsSurrogatePair } from './split-head-and-tail.ts'
import { stripItemMarkers } from '../cleaning/strip-markers-from-prompt.ts'

export interface OutputRange {
  readonly from?: number
  readonly to?: number
  /** Max length of the result. The result is a tool output itself, and would be cut if it were longer. */
  readonly maxChars: number
}

/**
 * Returns a range of the stored output with this call id, or `null` if there is no such output. If several outputs
 * have the id, because some providers reuse ids, the latest is read.
 */
export function readOutputRange(
  items: readonly Item[],
  callId: string,
  { from = 0, to = Infinity, maxChars }: OutputRange,
) {
  const stored = items.findLast((item) => isToolOutput(item) && item.call_id === callId)
  const output = stored === undefined ? undefined : stripItemMarkers(stored)
  if (output === undefined || !isToolOutput(output)) return null
  const text = textOf(output.output)
  const totalChars = text.length
  const requestedStart = Math.min(Math.max(0, Math.floor(from)), totalChars)
  // A range that would end within a surrogate pair ends before it, and the next range begins with it.
  const start = splitsSurrogatePair(text, requestedStart) ? requestedStart - 1 : requestedStart
  const requestedEnd = Math.min(Math.max(start, Math.floor(to)), start + maxChars, totalChars)
  const end = splitsSurrogatePair(text, requestedEnd) ? requestedEnd - 1 : requestedEnd
  return { text: text.slice(start, end), from: start, to: end, totalChars }
}
