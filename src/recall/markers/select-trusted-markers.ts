/**
 * Decides which markers (hidden texts that name stored turns) in a client's list are trusted, if no
 * fingerprint identifies the turn. Users move, copy and paste text together with its markers, so a
 * marker is trusted only if these rules hold:
 *
 * - The turn's question and text fit the answer segment (consecutive model-made items) with the
 *   marker at least as well as any other segment whose text comes from no known turn.
 * - If the text was edited, no other turn can be its origin.
 * - If one marker was moved, each other turn must fit its segment better than any other segment.
 *
 * If a turn's marker is not trusted, the turn is assigned to no segment.
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
  /**
   * Turns that a marker names although the marker is not trusted, e.g. because the user moved it.
   */
  readonly untrustedTurns: ReadonlySet<RecordedTurn>
}

export function selectTrustedMarkers(input: MarkedSegments): TrustedMarkers {
  const { markedTurns, assignedTurns, ancestry, segments } = input
  const { scores, hasMovedMarker } = scoreMarkers(input)
  const assignedSegments = assignedTurns.flatMap((turns, segmentIndex) =>
    turns.map((turn) => ({ turn, segmentIndex })),
  )
  const segmentByTurn = mapTurnsToSegments([...scores, ...assignedSegments])
  const misplacedTurns = findMisplacedTurns(segmentByTurn, ancestry, segments)
  const isAnyMoved = hasMovedMarker || misplacedTurns.size > 0
  const trustedSegments = mapTurnsToSegments(scores.filter((score) => isBest(score, isAnyMoved)))
  // If some turns are out of order, an equal question proves nothing: a turn needs its complete text
  // in the segment.
  for (const { turn, textScore } of scores) {
    const isUntrusted = misplacedTurns.has(turn)
      ? textScore < EXACT_MATCH
      : misplacedTurns.size > 0 && textScore < CONTAINED_MATCH
    if (isUntrusted) trustedSegments.delete(turn)
  }
  addRelatedTurns(input, scores, trustedSegments)
  return {
    turnsBySegment: markedTurns.map((turns, segmentIndex) =>
      turns.filter((turn) => trustedSegments.get(turn) === segmentIndex),
    ),
    untrustedTurns: new Set(markedTurns.flat().filter((turn) => !trustedSegments.has(turn))),
  }
}

function mapTurnsToSegments(
  scores: readonly Pick<MarkerScore, 'turn' | 'segmentIndex'>[],
): Map<RecordedTurn, number> {
  return new Map(scores.map(({ turn, segmentIndex }) => [turn, segmentIndex]))
}

/**
 * True if the turn fits the answer segment with its marker better than any segment without markers
 * (with equal text, at least as well). If a marker was moved, the turn must fit better than in any
 * other segment.
 */
function isBest(score: MarkerScore, isAnyMoved: boolean): boolean {
  const { rank, textScore, unmarkedSegmentRank, otherSegmentRank } = score
  if (score.isDisplaced || score.isRejected) return false
  if (isAnyMoved) return rank > Math.max(unmarkedSegmentRank, otherSegmentRank)
  return textScore === EXACT_MATCH ? rank >= unmarkedSegmentRank : rank > unmarkedSegmentRank
}

/**
 * Trusts more markers: that of a turn whose text is empty or edited is trusted, too, if the turn's
 * parent or child is trusted in the same answer segment.
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
 * its own ancestor.
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
