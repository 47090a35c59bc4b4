/**
 * What speaks for each marker of a list, and what against it: how well its turn fits the run where it
 * stands, and how well any other run. A question that is the same says more than words, because words
 * are edited more often.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import {
  isQuestionAt,
  MAX_MARKER_SEARCHES,
  createMarkerScoringContext,
  rankTurnAt,
  type MarkerScoringContext,
  type MarkedSegments,
} from './marker-score-inputs.ts'
import { isTextAbsentAt, hasCounterEvidence } from './find-counter-evidence.ts'
import { EXACT_MATCH, CONTAINED_MATCH, type TextMatchScore } from './text-match-score.ts'
import { appendToGroup } from '../append-to-group.ts'

export interface MarkerScore {
  readonly turn: RecordedTurn
  /** Of the runs that carry its marker the one that it fits best. */
  readonly segmentIndex: number
  readonly hasSameQuestion: boolean
  readonly textScore: TextMatchScore
  /** Question and words together: the higher, the better it fits. */
  readonly rank: number
  /** The highest rank at a run that nothing explains, and that has no marker. */
  readonly unmarkedSegmentRank: number
  /** At any other run. */
  readonly otherSegmentRank: number
  /** Whether it fits another run better, or two runs that carry its marker. */
  readonly isDisplaced: boolean
  /** Whether nothing at all speaks for it here, or more for another turn. */
  readonly isRejected: boolean
  /** Whether it has words, and nothing that is said here can be what has become of them. */
  readonly isTextAbsent: boolean
}

/** `isMoved`, too, if the claims show it. */
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
  const context = createMarkerScoringContext(input)
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
  context: MarkerScoringContext,
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
  // What is refused for want of looks is not looked at any more.
  const isTextAbsent = rivalSegments === null || isTextAbsentAt(context, turn, index)
  const isRejected =
    rivalSegments === null ||
    (textScore < EXACT_MATCH && (isTextAbsent || hasCounterEvidence(context, turn, index)))
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

/** The other runs that may be the turn's; `null` if it is not worth to look for them. */
function findRivalSegments(
  context: MarkerScoringContext,
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

/** No turn stands before one that it goes on from, nor behind one that goes on from it. */
function findPossibleRange(
  context: MarkerScoringContext,
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
