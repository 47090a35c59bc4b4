/**
 * Decides which markers (hidden texts that name stored turns) in a client's list are trusted, if no
 * fingerprint identifies the turn. Users move, copy and paste text together with its markers, so a
 * marker is trusted only if these rules hold:
 *
 * - The turn's question and text fit the answer segment (consecutive model-made items) with the
 *   marker better than any other segment whose text comes from no known turn; at least as well is
 *   enough if the texts are equal.
 * - If the text was edited, no other turn fits the segment better.
 * - If one marker was moved, each other turn must fit its segment better than any other segment.
 *
 * As an exception, the marker of a turn with empty or edited text is also trusted if the turn's
 * parent or child is trusted in the same segment.
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
   * One list per answer segment: the turns whose markers in it are trusted. Each turn occurs at
   * most once.
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
  // If some turns are out of order, an equal question proves nothing. The segment must then have
  // the turn's complete text; for a turn that is out of order itself, exactly that text.
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
 * True if the turn fits the answer segment with its marker better than any segment without markers;
 * at least as well is enough if the texts are equal. If a marker was moved, the turn must fit
 * better than in any other segment.
 */
function isBest(score: MarkerScore, isAnyMoved: boolean): boolean {
  const { rank, textScore, bestUnmarkedRank, bestOtherRank } = score
  if (score.isDisplaced || score.isRejected) return false
  if (isAnyMoved) return rank > Math.max(bestUnmarkedRank, bestOtherRank)
  return textScore === EXACT_MATCH ? rank >= bestUnmarkedRank : rank > bestUnmarkedRank
}

/**
 * Trusts more markers: the marker of a turn with empty or edited text is trusted, too, if the
 * turn's parent or child is trusted in the same answer segment.
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
    // The stored parent of a turn with an empty input may be wrong, because the turn may continue
    // an answer that was not stored. So the parent counts only if it has the segment's question.
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
 * Returns the turns that contradict the order of the answer segments, e.g. a turn that comes before
 * its own ancestor, and that ancestor.
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
