/**
 * Scores each marker (hidden text that names a stored turn) in a client's list, to find markers
 * that were moved: how well its turn fits the answer segment (consecutive model-made items) with
 * the marker, and how well it fits other segments. An equal question counts more than an equal
 * text, because users edit answers more often than questions.
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
import { isTurnTextAbsent, isMarkerDoubtful } from './is-marker-doubtful.ts'
import { EXACT_MATCH, CONTAINED_MATCH, type TextMatchScore } from './text-match-score.ts'
import { appendToGroup } from '../map-and-list-helpers.ts'

export interface MarkerScore {
  readonly turn: RecordedTurn
  /**
   * Index of the answer segment with the marker. If several segments contain it, that of the
   * segment which the turn fits best.
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
   * The turn's highest rank (0 to 7) in other answer segments that may belong to it: segments that
   * have text, but no matched turn and no marker of an unmatched turn. -1 if no such segment was
   * compared.
   */
  readonly bestUnmarkedRank: number
  /**
   * The turn's highest rank (0 to 7) in any answer segment other than `segmentIndex`; -1 if none
   * was compared.
   */
  readonly bestOtherRank: number
  /**
   * True if the marker seems to be in a wrong answer segment: the turn fits another segment better,
   * or it fits two segments with its marker equally well.
   */
  readonly isDisplaced: boolean
  /**
   * True if the marker must not be trusted: the answer segment does not have exactly the turn's
   * text, and either cannot have an edit of it, or fits another turn better. Also true if this was
   * not checked, because 200 turns were checked before.
   */
  readonly isRejected: boolean
  /**
   * True if the turn has text, but the answer segment cannot have it, not even edited. Also true if
   * this was not checked.
   */
  readonly isTextAbsent: boolean
}

/**
 * Returns a score for each turn in `markedTurnsBySegment`. `hasMovedMarker` is true if any marker
 * is in a wrong answer segment: `input.hasMovedMarker` is true, two segments contain the same
 * marker, or a turn fits another segment better.
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

/**
 * Scores the marker of a turn. `markedIndexes` are the indexes of the answer segments that contain
 * the marker.
 */
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
  // A turn whose text is not exactly that of its segment is also looked for in other segments. To
  // limit the work, this is done for 200 such turns; markers of any further ones are rejected
  // without a check.
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
      (textScore < EXACT_MATCH && (isTextAbsent || isMarkerDoubtful(inputs, turn, segmentIndex))),
    isTextAbsent,
  }
}

/**
 * Lists the other answer segments (by index) that the turn may belong to, to find out whether its
 * marker was moved. If the segment `index` has exactly the turn's text, only segments with the same
 * text or with the turn's question count. Otherwise, only segments with text of unknown turns
 * count, between the turn's known ancestor and its known descendant. Returns `null` if 200 such
 * turns were already compared.
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
