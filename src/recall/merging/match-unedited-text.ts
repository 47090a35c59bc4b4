/**
 * Checks whether a client's text of a segment is unedited: equal to the recorded text
 * (`matchRecordedText`), or equal to the text that the client received, which can differ from the
 * recorded text and is proven by the turn's fingerprint.
 */
import type { Message } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { matchRecordedText } from '../text/match-recorded-text.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'

/**
 * Returns `null` if the text was edited; else the indexes of recorded messages that the client has
 * with other whitespace or markers. `recorded` are the messages of the turns.
 */
export function matchUneditedText(
  segment: Segment,
  turns: readonly RecordedTurn[],
  recorded: readonly Message[],
  clientMessages: readonly Message[],
): ReadonlySet<number> | null {
  const match = matchRecordedText(recorded, clientMessages)
  if (match !== null) return match
  if (!hasFingerprintOfSegment(segment, turns)) return null
  // If only whitespace or indentation differs, which a fingerprint ignores, the client edited the
  // text.
  return normalizeTurnText(turns) === removeEmptyFences(segment.normalizedText)
    ? null
    : new Set(recorded.keys())
}

/**
 * True if the segment's fingerprint is that of its only turn. A turn that continues an answer does not
 * count: its fingerprint omits the continued text.
 */
function hasFingerprintOfSegment(
  { fingerprint }: Segment,
  [first, ...others]: readonly RecordedTurn[],
): boolean {
  if (first === undefined || others.length > 0) return false
  return fingerprint !== null && first.fingerprint === fingerprint && !turnLacksNewInput(first)
}
