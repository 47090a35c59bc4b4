/**
 * Finds the earlier turns of an answer that a segment's first turn continues without new input. A
 * parent counts only if the segment contains its text, because the stored parent is of another
 * segment if the continued turn was not stored. A continued answer that the turn's input contains
 * counts without its text if a marker names it.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/**
 * Takes the turns of the segment, the turns that are assigned to any segment, and the turns whose
 * markers are not trusted. Returns the continued turns, oldest first.
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
  // Shortcut for the usual case, because normalizing all text of a segment is slow.
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
