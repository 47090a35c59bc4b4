/**
 * Scores each marker in a client's list: how well the marker's turn fits the segment that contains
 * the marker, and how well it fits other segments. The question counts more than the text, because
 * users edit text more often.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import {
  isQuestionAt,
  MAX_MARKER_SEARCHES,
  createMarkerContext,
  rankTurnAt,
  type MarkerContext,
  type MarkedSegments,
} from './marker-score-inputs.ts'
import { isTextAbsentAt, isContradicted } from './find-counter-evidence.ts'
import { EXACT_MATCH, CONTAINED_MATCH, type TextMatchScore } from './text-match-score.ts'
import { appendToGroup } from '../append-to-group.ts'

export interface MarkerScore {
  readonly turn: RecordedTurn
  /** The segment that the turn fits best, of those that contain its marker. */
  readonly segmentIndex: number
  readonly hasSameQuestion: boolean
  readonly textScore: TextMatchScore
  /** Sum of the question (0 or 4) and the text score (0 to 3). */
  readonly rank: number
  /**
   * The turn's highest rank in a segment with text that has no known marker and no assigned turn; -1 if
   * there is no such segment.
   */
  readonly unmarkedSegmentRank: number
  /** The turn's highest rank in any other segment that was searched; -1 if there is none. */
  readonly otherSegmentRank: number
  /** True if the turn fits another segment better, or two segments with its marker equally well. */
  readonly isDisplaced: boolean
  /** True if the turn does not fit the segment at all, or another turn fits it better. */
  readonly isRejected: boolean
  /** True if the turn has text, and no part of the segment's text can be an edit of it. */
  readonly isTextAbsent: boolean
}

/**
 * Returns a score for each turn that a marker names. `hasMovedMarker` is true if the input has it, or
 * if the scores show a copied marker (one turn is named in two segments) or a moved one
 * (`isDisplaced`).
 */
export function scoreMarkers(input: MarkedSegments): {
  readonly scores: readonly MarkerScore[]
  readonly hasMovedMarker: boolean
} {
  const segmentsByTurn = new Map<RecordedTurn, number[]>()
  for (const [index, turns] of input.namedTurns.entries()) {
    for (const turn of turns) {
      appendToGroup(segmentsByTurn, turn, index)
    }
  }
  const context = createMarkerContext(input)
  const scores = [...segmentsByTurn].map(([turn, ownSegments]) =>
    scoreMarker(context, turn, ownSegments),
  )
  const isNamedTwice = [...segmentsByTurn.values()].some((ownSegments) => ownSegments.length > 1)
  return {
    scores,
    hasMovedMarker:
      input.hasMovedMarker || isNamedTwice || scores.some(({ isDisplaced }) => isDisplaced),
  }
}

function scoreMarker(
  context: MarkerContext,
  turn: RecordedTurn,
  ownSegments: readonly number[],
): MarkerScore {
  const ranks = ownSegments.map((index) => rankTurnAt(context, turn, index))
  const rank = Math.max(...ranks)
  const index = ownSegments[ranks.indexOf(rank)] ?? 0
  const textScore = context.scoreText(turn, index)
  const hasSameQuestion = isQuestionAt(context, turn, index)
  let [unmarkedSegmentRank, otherSegmentRank, unexplainedRank] = [-1, -1, -1]
  let hasTextElsewhere = false
  const rivalSegments = findRivalSegments(context, turn, index)
  for (const rivalSegment of rivalSegments ?? []) {
    const rivalRank = rankTurnAt(context, turn, rivalSegment)
    otherSegmentRank = Math.max(otherSegmentRank, rivalRank)
    if (context.unexplainedChars[rivalSegment] === 0) continue
    unexplainedRank = Math.max(unexplainedRank, rivalRank)
    hasTextElsewhere ||=
      context.textMatcher.getTurnText(turn) !== '' &&
      context.scoreText(turn, rivalSegment) >= CONTAINED_MATCH &&
      (!hasSameQuestion || isQuestionAt(context, turn, rivalSegment))
    if (context.namedTurns[rivalSegment]?.length === 0)
      unmarkedSegmentRank = Math.max(unmarkedSegmentRank, rivalRank)
  }
  const fitsSeveralSegments = ownSegments.some(
    (other, position) =>
      other !== index &&
      (ranks[position] === rank ||
        (textScore < CONTAINED_MATCH && context.scoreText(turn, other) >= CONTAINED_MATCH)),
  )
  const isMissingHere = textScore < CONTAINED_MATCH && hasTextElsewhere
  const isDisplaced = fitsSeveralSegments || isMissingHere || unexplainedRank > rank
  // A marker is rejected without further checks once the searches are used up.
  const isTextAbsent = rivalSegments === null || isTextAbsentAt(context, turn, index)
  const isRejected =
    rivalSegments === null ||
    (textScore < EXACT_MATCH && (isTextAbsent || isContradicted(context, turn, index)))
  return {
    turn,
    segmentIndex: index,
    hasSameQuestion,
    textScore,
    rank,
    unmarkedSegmentRank,
    otherSegmentRank,
    isDisplaced,
    isRejected,
    isTextAbsent,
  }
}

/** Lists the other segments that the turn may belong to; `null` if the searches are used up. */
function findRivalSegments(
  context: MarkerContext,
  turn: RecordedTurn,
  index: number,
): readonly number[] | null {
  const { textMatcher, questionLocator, unexplainedSegments, attachedTurns } = context
  if (context.scoreText(turn, index) < EXACT_MATCH) {
    context.remainingSearches -= 1
    if (context.remainingSearches < 0) return null
    const [start, end] = findPossibleRange(context, turn, index)
    return unexplainedSegments.filter((other) => other !== index && other >= start && other <= end)
  }
  const segmentsWithText = textMatcher
    .findSegmentsWithText(textMatcher.getTurnText(turn))
    .slice(0, MAX_MARKER_SEARCHES)
    .filter((other) => other !== index && attachedTurns[other]?.length === 0)
  if (isQuestionAt(context, turn, index)) return segmentsWithText
  return [
    ...segmentsWithText,
    ...unexplainedSegments.filter((other) => questionLocator.isAskedAt(turn, other)),
  ]
}

/** Returns the first and the last segment to search: after the turn's ancestors, before its descendants. */
function findPossibleRange(
  context: MarkerContext,
  turn: RecordedTurn,
  index: number,
): readonly [number, number] {
  const [certainBefore, certainAfter] = [
    context.certainBefore[index] ?? null,
    context.certainAfter[index] ?? null,
  ]
  const isDescendantOfBefore =
    certainBefore !== null && context.ancestry.isDescendant(turn, certainBefore.turn)
  const isAncestorOfAfter =
    certainAfter !== null && context.ancestry.isDescendant(certainAfter.turn, turn)
  return [
    isDescendantOfBefore ? certainBefore.segmentIndex : 0,
    isAncestorOfAfter ? certainAfter.segmentIndex : context.segments.length,
  ]
}
