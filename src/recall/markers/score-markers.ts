/**
 * Scores each marker (hidden text that names a stored turn) in a client's list: how well its turn
 * fits the answer segment (consecutive model-made items) with the marker, and how well it fits
 * other segments. An equal question counts more than an equal text, because users edit answers more
 * often than questions.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import {
  isQuestionOfAnswerBefore,
  MAX_TURNS_COMPARED_WITH_ALL_SEGMENTS,
  createMarkerScoreInputs,
  rankTurnInSegment,
  type MarkerScoreInputs,
  type MarkedSegments,
} from './marker-score-inputs.ts'
import { isTurnTextAbsent, isMarkerContradicted } from './is-marker-contradicted.ts'
import { EXACT_MATCH, CONTAINED_MATCH, type TextMatchScore } from './text-match-score.ts'
import { appendToGroup } from '../map-and-list-helpers.ts'

export interface MarkerScore {
  readonly turn: RecordedTurn
  /**
   * Index of the answer segment that the turn fits best, of the segments that contain its marker.
   */
  readonly segmentIndex: number
  readonly hasSameQuestion: boolean
  readonly textScore: TextMatchScore
  /**
   * Rank of the turn in this answer segment: 4 points for an equal question plus the text score (0
   * to 3).
   */
  readonly rank: number
  /**
   * The turn's highest rank (0 to 7) in an answer segment with text, but without a marker of a
   * loaded turn and without an assigned turn; -1 if no such segment was compared.
   */
  readonly bestUnmarkedRank: number
  /**
   * The turn's highest rank (0 to 7) in any other answer segment that was compared; -1 if none was.
   */
  readonly bestOtherRank: number
  /**
   * True if the turn fits another answer segment better, or if two segments with its marker fit
   * equally well.
   */
  readonly isDisplaced: boolean
  /**
   * True if the turn does not fit the answer segment at all, or if another turn fits the segment
   * better.
   */
  readonly isRejected: boolean
  /** True if the turn has text, but no part of the answer segment's text can be an edit of it. */
  readonly isTextAbsent: boolean
}

/**
 * Returns a score for each turn that a marker names. `hasMovedMarker` is true if a marker is known
 * to be in a wrong answer segment: the input has this flag, two segments contain the same marker,
 * or a turn fits another segment better.
 */
export function scoreMarkers(input: MarkedSegments): {
  readonly scores: readonly MarkerScore[]
  readonly hasMovedMarker: boolean
} {
  const segmentsByTurn = new Map<RecordedTurn, number[]>()
  for (const [index, turns] of input.markedTurnsBySegment.entries())
    for (const turn of turns) appendToGroup(segmentsByTurn, turn, index)
  const inputs = createMarkerScoreInputs(input)
  const scores = [...segmentsByTurn].map(([turn, indexes]) => scoreMarker(inputs, turn, indexes))
  const isNamedTwice = [...segmentsByTurn.values()].some((indexes) => indexes.length > 1)
  return {
    scores,
    hasMovedMarker:
      input.hasMovedMarker || isNamedTwice || scores.some(({ isDisplaced }) => isDisplaced),
  }
}

/** Scores one marker. `markedIndexes` are the indexes of the answer segments that contain it. */
function scoreMarker(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  markedIndexes: readonly number[],
): MarkerScore {
  const { scoreText } = inputs
  const ranks = markedIndexes.map((index) => rankTurnInSegment(inputs, turn, index))
  const rank = Math.max(...ranks)
  const segmentIndex = markedIndexes[ranks.indexOf(rank)] ?? 0
  const textScore = scoreText(turn, segmentIndex)
  const hasSameQuestion = isQuestionOfAnswerBefore(inputs, turn, segmentIndex)
  let [unmarkedSegmentRank, otherSegmentRank, unexplainedRank] = [-1, -1, -1]
  let hasTextElsewhere = false
  const otherSegments = findOtherSegments(inputs, turn, segmentIndex)
  for (const other of otherSegments ?? []) {
    const otherRank = rankTurnInSegment(inputs, turn, other)
    otherSegmentRank = Math.max(otherSegmentRank, otherRank)
    if (inputs.unexplainedChars[other] === 0) continue
    unexplainedRank = Math.max(unexplainedRank, otherRank)
    hasTextElsewhere ||=
      inputs.getTurnText(turn) !== '' &&
      scoreText(turn, other) >= CONTAINED_MATCH &&
      (!hasSameQuestion || isQuestionOfAnswerBefore(inputs, turn, other))
    if (inputs.markedTurnsBySegment[other]?.length === 0)
      unmarkedSegmentRank = Math.max(unmarkedSegmentRank, otherRank)
  }
  const isTextMissing = textScore < CONTAINED_MATCH
  const fitsSeveralSegments = markedIndexes.some(
    (other, position) =>
      other !== segmentIndex &&
      (ranks[position] === rank || (isTextMissing && scoreText(turn, other) >= CONTAINED_MATCH)),
  )
  // To limit the work, only 200 turns whose segment has other text are compared with all segments.
  // Markers of further such turns are rejected without a check.
  const isUnchecked = otherSegments === null
  const isTextAbsent = isUnchecked || isTurnTextAbsent(inputs, turn, segmentIndex)
  return {
    turn,
    segmentIndex,
    hasSameQuestion,
    textScore,
    rank,
    bestUnmarkedRank: unmarkedSegmentRank,
    bestOtherRank: otherSegmentRank,
    isDisplaced:
      fitsSeveralSegments || (isTextMissing && hasTextElsewhere) || unexplainedRank > rank,
    isRejected:
      isUnchecked ||
      (textScore < EXACT_MATCH &&
        (isTextAbsent || isMarkerContradicted(inputs, turn, segmentIndex))),
    isTextAbsent,
  }
}

/**
 * Lists the indexes of other answer segments that the turn may belong to. If the segment does not
 * have exactly the turn's text, only segments between those of the turn's known ancestor and known
 * descendant count; returns `null` if 200 such turns were already compared.
 */
function findOtherSegments(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  index: number,
): readonly number[] | null {
  const { unexplainedSegments, ancestry } = inputs
  if (inputs.scoreText(turn, index) < EXACT_MATCH) {
    inputs.remainingComparisons -= 1
    if (inputs.remainingComparisons < 0) return null
    const before = inputs.certainTurnBefore[index] ?? null
    const after = inputs.certainTurnAfter[index] ?? null
    const isDescendant = before !== null && ancestry.isDescendant(turn, before.turn)
    const isAncestor = after !== null && ancestry.isDescendant(after.turn, turn)
    const first = isDescendant ? before.segmentIndex : 0
    const last = isAncestor ? after.segmentIndex : inputs.segments.length
    return unexplainedSegments.filter((other) => other !== index && other >= first && other <= last)
  }
  const segmentsWithText = inputs
    .findSegmentsWithText(inputs.getTurnText(turn))
    .slice(0, MAX_TURNS_COMPARED_WITH_ALL_SEGMENTS)
    .filter((other) => other !== index && inputs.assignedTurnsBySegment[other]?.length === 0)
  return isQuestionOfAnswerBefore(inputs, turn, index)
    ? segmentsWithText
    : segmentsWithText.concat(
        unexplainedSegments.filter((other) => inputs.isQuestionOfTurnBefore(turn, other)),
      )
}
