/**
 * The turns that the first one of a run continued: it was asked nothing new, and the words of them
 * all are there. If what it really continued was not kept, its parent is of another run. What it was told
 * tells what it continued, as that was then, and the marker of that is believed, whatever there is of words.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/** `own` are the turns of the run, `taken` those of any run, `doubted` those whose markers lie. */
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
    if (
      previousTurn === null ||
      assignedTurns.has(previousTurn) ||
      continuedTurns.includes(previousTurn)
    )
      break
    continuedTurns.unshift(previousTurn)
  }
  // As nearly always, and what a whole run has said is not told for nothing.
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
