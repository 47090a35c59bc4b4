/**
 * Whether the words of a run are those that were recorded, as `matchRecordedText` tells; or those that the
 * client was shown, which need not be the recorded ones, but whose fingerprint the turn has.
 */
import type { Message } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { matchRecordedText } from '../text/match-recorded-text.ts'
import { turnLacksNewInput } from '../matching/turn-lacks-new-input.ts'

/** `recorded` are the messages of the turns, `given` those of the run. */
export function matchUneditedText(
  segment: Segment,
  turns: readonly RecordedTurn[],
  recorded: readonly Message[],
  clientMessages: readonly Message[],
): ReadonlySet<number> | null {
  const match = matchRecordedText(recorded, clientMessages)
  if (match !== null) return match
  if (!hasFingerprintOfSegment(segment, turns)) return null
  // Words that differ only in what does not count for a fingerprint are the client's edit.
  return normalizeTurnText(turns) === removeEmptyFences(segment.normalizedText)
    ? null
    : new Set(recorded.keys())
}

/** The fingerprint of an answer that went on says nothing of what it went on from. */
function hasFingerprintOfSegment(
  { fingerprint }: Segment,
  [first, ...others]: readonly RecordedTurn[],
): boolean {
  if (first === undefined || others.length > 0) return false
  return fingerprint !== null && first.fingerprint === fingerprint && !turnLacksNewInput(first)
}
