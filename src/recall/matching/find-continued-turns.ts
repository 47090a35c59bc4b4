/**
 * Finds the earlier turns of an answer that the user had the model continue. A turn that continues
 * an answer has no new input, and sometimes no text of its own, so several turns of an answer can
 * have the same fingerprint.
 */
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { hasSameContent } from '../compare-items.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { MatchState } from './match-state.ts'

/**
 * Returns the turns that the first of `segmentTurns` continues, oldest first. The stored parent
 * alone does not prove which turn was continued, because the continued answer may not be stored. So
 * the answer segment (consecutive model-made items in the client's list) must also have the text or
 * a trusted marker of these turns. Turns that are already assigned to a segment are not returned.
 */
export function findContinuedTurns(
  segmentTurns: readonly RecordedTurn[],
  { normalizedText, markerTurnIds }: Segment,
  ancestry: TurnAncestry,
  { assignedTurns, doubtedTurns }: Pick<MatchState, 'assignedTurns' | 'doubtedTurns'>,
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
    // The search ends here if the links between turns form a circle, because the stored data is
    // damaged.
    if (continuedTurns.includes(previousTurn)) break
    continuedTurns.unshift(previousTurn)
  }
  // Most turns continue no other one. Returning early avoids normalizing the segment's text, which
  // is slow.
  if (continuedTurns.length === 0) return continuedTurns
  const hasTrustedMarker = (turn: RecordedTurn) =>
    markerTurnIds.includes(turn.id) && !doubtedTurns.has(turn)
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

/**
 * Returns the answer that a turn continues, as if it were a stored turn: the model-made items at
 * the end of the turn's input. An input has such items if it was stored with the complete
 * conversation. The id is that of the continuing turn, because the answer's own is unknown. Returns
 * `null` if the gateway did not record any of the items.
 */
function extractContinuedAnswer(turn: RecordedTurn): RecordedTurn | null {
  const { input } = turn
  const answerStart = input.findLastIndex((item) => !isItemOfAnswer(item)) + 1
  const output = input.slice(answerStart)
  if (output.every(({ origin }) => origin === undefined)) return null
  return {
    ...turn,
    fingerprint: null,
    reasoningRefusedBy: null,
    input: input.slice(0, answerStart),
    output,
  }
}

/**
 * True if `turn` is the stored turn of the continued answer: the answer ends with all items that
 * `turn` generated.
 */
function endsWithAnswer(continuedAnswer: RecordedTurn, turn: RecordedTurn): boolean {
  const { output } = turn
  if (output.length === 0 || output.length > continuedAnswer.output.length) return false
  const lastItems = continuedAnswer.output.slice(-output.length)
  return lastItems.every((item, index) => hasSameContent(output[index] ?? item, item))
}

/**
 * Returns the first or the last of several turns of one answer: the turn that all others continue,
 * or the one that continues all others. Returns `null` if there is no such turn, because the turns
 * do not form one answer.
 */
export function findEndOfAnswer(
  turns: readonly RecordedTurn[],
  end: 'first' | 'last',
  ancestry: TurnAncestry,
): RecordedTurn | null {
  const isEnd = (turn: RecordedTurn, other: RecordedTurn): boolean =>
    turn === other ||
    (end === 'last' ? continuesTurn(turn, other, ancestry) : continuesTurn(other, turn, ancestry))
  return turns.find((turn) => turns.every((other) => isEnd(turn, other))) ?? null
}

function continuesTurn(turn: RecordedTurn, other: RecordedTurn, ancestry: TurnAncestry): boolean {
  for (const ancestor of ancestry.listAncestorsInAnswer(turn)) if (ancestor === other) return true
  const continuedAnswer = extractContinuedAnswer(turn)
  return continuedAnswer !== null && endsWithAnswer(continuedAnswer, other)
}
