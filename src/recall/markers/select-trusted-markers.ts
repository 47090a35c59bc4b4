/**
 * Decides which markers (hidden texts that name stored turns) in a client's list are trusted, if no
 * fingerprint identifies the turn. Users move, copy and paste text together with its markers, so a
 * marker is trusted only if these rules hold:
 *
 * - By question and text, its turn fits the answer segment (consecutive model-made items) with the
 *   marker better than any segment whose text comes from no known turn. If the segment has exactly
 *   the turn's text, it is enough if no such segment fits better.
 * - If the segment does not have exactly the turn's text, no other turn fits the segment better.
 * - If any marker of the list was moved, the turn fits the segment better than all other segments.
 *
 * As an exception, the marker of a turn with empty or edited text is also trusted if the marker of
 * the turn's parent or child is trusted in the same segment.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { MarkedSegments } from './marker-score-inputs.ts'
import { scoreMarkers, type MarkerScore } from './score-markers.ts'
import { EXACT_MATCH, CONTAINED_MATCH } from './text-match-score.ts'

export interface TrustedMarkers {
  /**
   * One list per answer segment: the turns whose markers are trusted in this segment. Each turn is
   * in at most one list.
   */
  readonly turnsBySegment: readonly (readonly RecordedTurn[])[]
  /** Turns that only untrusted markers name, e.g. markers that the user moved. */
  readonly untrustedTurns: ReadonlySet<RecordedTurn>
}

export function selectTrustedMarkers(input: MarkedSegments): TrustedMarkers {
  const { markedTurnsBySegment, assignedTurnsBySegment, ancestry, segments } = input
  const { scores, hasMovedMarker } = scoreMarkers(input)
  const assignedSegments = assignedTurnsBySegment.flatMap((turns, segmentIndex) =>
    turns.map((turn) => ({ turn, segmentIndex })),
  )
  const segmentByTurn = mapTurnsToSegments([...scores, ...assignedSegments])
  const misplacedTurns = findMisplacedTurns(segmentByTurn, ancestry, segments)
  const isAnyMoved = hasMovedMarker || misplacedTurns.size > 0
  const trustedSegments = mapTurnsToSegments(scores.filter((score) => isBest(score, isAnyMoved)))
  // If some turns contradict the order of the segments, markers were moved, and an equal question
  // proves nothing. A segment must then contain the turn's complete text; if the turn itself is out
  // of order, exactly this text.
  for (const { turn, textScore } of scores) {
    const isUntrusted = misplacedTurns.has(turn)
      ? textScore < EXACT_MATCH
      : misplacedTurns.size > 0 && textScore < CONTAINED_MATCH
    if (isUntrusted) trustedSegments.delete(turn)
  }
  addRelatedTurns(input, scores, trustedSegments)
  const allMarked = markedTurnsBySegment.flat()
  return {
    turnsBySegment: markedTurnsBySegment.map((turns, segmentIndex) =>
      turns.filter((turn) => trustedSegments.get(turn) === segmentIndex),
    ),
    untrustedTurns: new Set(allMarked.filter((turn) => !trustedSegments.has(turn))),
  }
}

function mapTurnsToSegments(
  scores: readonly Pick<MarkerScore, 'turn' | 'segmentIndex'>[],
): Map<RecordedTurn, number> {
  return new Map(scores.map(({ turn, segmentIndex }) => [turn, segmentIndex]))
}

/**
 * True if the answer segment with the marker is the best one for the turn. The turn must fit it
 * better than any segment without markers; if it has exactly the turn's text, fitting equally well
 * is enough. If any marker was moved, the turn must fit it better than all other segments.
 */
function isBest(score: MarkerScore, isAnyMoved: boolean): boolean {
  const { rank, textScore, bestUnmarkedRank, bestOtherRank } = score
  if (score.isDisplaced || score.isRejected) return false
  if (isAnyMoved) return rank > Math.max(bestUnmarkedRank, bestOtherRank)
  return textScore === EXACT_MATCH ? rank >= bestUnmarkedRank : rank > bestUnmarkedRank
}

/**
 * Trusts more markers, because a user may have edited a whole answer of several turns: the marker
 * of a turn with empty or edited text is also trusted if that of the turn's parent or child is
 * trusted in the same answer segment.
 */
function addRelatedTurns(
  { ancestry }: MarkedSegments,
  scores: readonly MarkerScore[],
  trustedSegments: Map<RecordedTurn, number>,
): void {
  const scoreByTurn = new Map(scores.map((score) => [score.turn, score]))
  const trustIfRelatedIsTrusted = (score: MarkerScore, related: MarkerScore): void => {
    const { turn, segmentIndex, textScore, isDisplaced, isTextAbsent } = score
    if (trustedSegments.get(related.turn) !== segmentIndex || trustedSegments.has(turn)) return
    if (textScore < CONTAINED_MATCH && !isDisplaced && !isTextAbsent)
      trustedSegments.set(turn, segmentIndex)
  }
  const findParentScore = ({ turn, segmentIndex }: MarkerScore): MarkerScore | null => {
    const parent = ancestry.findParent(turn)
    const parentScore = parent === null ? undefined : scoreByTurn.get(parent)
    if (parentScore?.segmentIndex !== segmentIndex || turn.input.some(isUserMessage)) return null
    // A turn with an empty input continues an answer. If that answer was not stored, the stored
    // parent is a wrong turn. So the parent is used only if the question before the segment is the
    // parent's question.
    return turn.input.length === 0 && !parentScore.hasSameQuestion ? null : parentScore
  }
  for (const score of scores.toReversed()) {
    const parentScore = findParentScore(score)
    if (parentScore !== null) trustIfRelatedIsTrusted(parentScore, score)
  }
  for (const score of scores) {
    const parentScore = findParentScore(score)
    if (parentScore !== null) trustIfRelatedIsTrusted(score, parentScore)
  }
}

/**
 * Returns the turns whose order in the client's list contradicts their stored order, because their
 * markers were moved. For example, if a turn comes before its own ancestor, both are returned.
 */
function findMisplacedTurns(
  segmentByTurn: ReadonlyMap<RecordedTurn, number>,
  ancestry: TurnAncestry,
  segments: readonly Segment[],
): ReadonlySet<RecordedTurn> {
  const misplacedTurns = new Set<RecordedTurn>()
  for (const [turn, segmentIndex] of segmentByTurn) {
    let hasNewQuestion = turn.input.some(isUserMessage)
    for (const ancestor of ancestry.listAncestors(turn)) {
      const ancestorIndex = segmentByTurn.get(ancestor)
      if (ancestorIndex === undefined) {
        hasNewQuestion ||= ancestor.input.some(isUserMessage)
        continue
      }
      const isSameRound =
        segments[ancestorIndex]?.userMessages === segments[segmentIndex]?.userMessages
      if (
        ancestorIndex > segmentIndex ||
        (ancestorIndex === segmentIndex ? hasNewQuestion : !hasNewQuestion && !isSameRound)
      )
        misplacedTurns.add(turn).add(ancestor)
      break
    }
  }
  return misplacedTurns
}
