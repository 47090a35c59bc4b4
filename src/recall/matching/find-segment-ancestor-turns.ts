/**
 * Finds the earlier turns of an answer that a segment's first turn continues without new input. The
 * segment must contain the text of such a turn, or its marker, if that is trusted or the first turn's
 * input ends with the turn's answer. Without this check, the stored parent could belong to another
 * segment, because the turn that is really continued may not be stored.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/**
 * Returns the continued turns, oldest first. `segmentTurns` are the turns of the segment,
 * `assignedTurns` those of any segment, `untrustedTurns` those whose markers are not trusted.
 */
export function findContinuedTurns(
  segmentTurns: readonly RecordedTurn[],
  { normalizedText, markerTurnIds }: Segment,
  ancestry: TurnAncestry,
  {
    assignedTurns,
    untrustedTurns,
  }: Record<'assignedTurns' | 'untrustedTurns', ReadonlySet<RecordedTurn>>,
): readonly RecordedTurn[] {
  const continuedTurns: RecordedTurn[] = []
  const provenTurns = new Set<RecordedTurn>()
  const markedTurns = markerTurnIds.flatMap((id) => ancestry.findTurn(id) ?? [])
  for (let turn = segmentTurns[0]; turn !== undefined; turn = continuedTurns[0]) {
    const continuedAnswer = extractContinuedAnswer(turn)
    const markedTurn =
      continuedAnswer === null
        ? undefined
        : markedTurns.find((candidate) => endsWithAnswer(continuedAnswer, candidate))
    if (markedTurn !== undefined) provenTurns.add(markedTurn)
    const parent = turn.input.length === 0 ? ancestry.findParent(turn) : null
    const previousTurn = markedTurn ?? continuedAnswer ?? parent
    if (previousTurn === null || assignedTurns.has(previousTurn)) break
    if (continuedTurns.includes(previousTurn)) break
    continuedTurns.unshift(previousTurn)
  }
  // Most turns continue no other; return before normalizing the segment's text, which is slow.
  if (continuedTurns.length === 0) return continuedTurns
  const hasTrustedMarker = (turn: RecordedTurn) =>
    markerTurnIds.includes(turn.id) && !untrustedTurns.has(turn)
  const segmentText = removeEmptyFences(normalizedText)
  const laterText = normalizeTurnText(segmentTurns)
  while (continuedTurns.length > 0) {
    const earlierText = normalizeTurnText(continuedTurns)
    const hasText =
      segmentText.startsWith(earlierText) ||
      segmentText.endsWith(removeEmptyFences(earlierText + laterText))
    if (earlierText !== '' && hasText) return continuedTurns
    if (continuedTurns.every((turn) => provenTurns.has(turn) || hasTrustedMarker(turn)))
      return continuedTurns
    continuedTurns.shift()
  }
  return continuedTurns
}
