/**
 * A piece of a tool's output as it was, for a model that was given it cut (`capOutputs`). Characters
 * are counted over all texts of the output, as the note in the cut one counts them, without markers.
 */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { splitsSurrogatePair } from './split-head-and-tail.ts'
import { stripItemMarkers } from '../cleaning/strip-markers-from-prompt.ts'

export interface OutputRange {
  readonly from?: number
  readonly to?: number
  /** No more characters than these, whatever is asked for: a piece, too, is the output of a tool. */
  readonly maxChars: number
}

export interface OutputSlice {
  readonly text: string
  /** Where it begins and ends; the whole has `chars` characters. */
  readonly from: number
  readonly to: number
  readonly chars: number
}

/**
 * `items` are as they were recorded. Some providers use a call id again: it means the newest. `null`
 * if there is no such output.
 */
export function readOutputRange(
  items: readonly Item[],
  callId: string,
  { from = 0, to = Infinity, maxChars }: OutputRange,
): OutputSlice | null {
  const recorded = items.findLast((item) => isToolOutput(item) && item.call_id === callId)
  const found = recorded === undefined ? undefined : stripItemMarkers(recorded)
  if (found === undefined || !isToolOutput(found)) return null
  const whole = textOf(found.output)
  const chars = whole.length
  const asked = Math.min(Math.max(0, Math.floor(from)), chars)
  // Of a character of two halves, a piece has both or none, and the next piece begins with it.
  const start = splitsSurrogatePair(whole, asked) ? asked - 1 : asked
  const wanted = Math.min(Math.max(start, Math.floor(to)), start + maxChars, chars)
  const end = splitsSurrogatePair(whole, wanted) ? wanted - 1 : wanted
  return { text: whole.slice(start, end), from: start, to: end, chars }
}
