/**
 * Decides which markers in a client's text are trusted, for segments that no fingerprint
 * identifies. Users move, copy and paste text together with its markers, so a marker counts only if
 * these rules hold:
 *
 * - The turn's question and text fit the segment at least as well as any other segment whose text is
 *   of no known turn.
 * - Edited text counts only if no other turn can be its origin.
 * - If one marker was moved, every other turn must fit its segment better than any other segment.
 *
 * A turn whose marker is not trusted is assigned to no segment.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { MarkedSegments } from './marker-score-inputs.ts'
import { scoreMarkers, type MarkerScore } from './score-markers.ts'
import { EXACT_MATCH, CONTAINED_MATCH } from './text-match-score.ts'

export interface TrustedMarkers {
  /** One list per segment: the turns whose markers are trusted. Each turn is in one segment at most. */
  readonly turnsBySegment: readonly (readonly RecordedTurn[])[]
  /** The other turns that markers name. */
  readonly untrustedTurns: ReadonlySet<RecordedTurn>
}

export function selectTrustedMarkers(input: MarkedSegments): TrustedMarkers {
  const { namedTurns, attachedTurns, ancestry, segments } = input
  const { scores, hasMovedMarker } = scoreMarkers(input)
  const attachedPlaces = new Map(
    attachedTurns.flatMap((ownTurns, segmentIndex) =>
      ownTurns.map((turn) => [turn, segmentIndex] as const),
    ),
  )
  const markerPlaces = mapTurnsToSegments(scores, () => true)
  const allPlaces = new Map([...markerPlaces, ...attachedPlaces])
  const misplacedTurns = findMisplacedTurns(allPlaces, ancestry, segments)
  const trustedPlaces = mapTurnsToSegments(
    scores,
    hasMovedMarker || misplacedTurns.size > 0 ? isBestAnywhere : isBestUnmarked,
  )
  // If turns are out of order, only complete text counts, not the question.
  for (const { turn, textScore } of scores) {
    const isUntrusted = misplacedTurns.has(turn)
      ? textScore < EXACT_MATCH
      : misplacedTurns.size > 0 && textScore < CONTAINED_MATCH
    if (isUntrusted) trustedPlaces.delete(turn)
  }
  addRelatedTurns(input, scores, trustedPlaces)
  return {
    turnsBySegment: namedTurns.map((ownTurns, segmentIndex) =>
      ownTurns.filter((turn) => trustedPlaces.get(turn) === segmentIndex),
    ),
    untrustedTurns: new Set(namedTurns.flat().filter((turn) => !trustedPlaces.has(turn))),
  }
}

function mapTurnsToSegments(
  scores: readonly MarkerScore[],
  isAccepted: (score: MarkerScore) => boolean,
): Map<RecordedTurn, number> {
  return new Map(scores.filter(isAccepted).map(({ turn, segmentIndex }) => [turn, segmentIndex]))
}

/**
 * True if the turn fits its segment better than any segment without markers; if the text is equal, at
 * least as well. Applies as long as no marker is known to be moved.
 */
function isBestUnmarked(score: MarkerScore): boolean {
  const { rank, textScore, unmarkedSegmentRank } = score
  if (!isNotRejected(score)) return false
  return textScore === EXACT_MATCH ? rank >= unmarkedSegmentRank : rank > unmarkedSegmentRank
}

function isBestAnywhere(score: MarkerScore): boolean {
  return (
    isNotRejected(score) && score.rank > Math.max(score.unmarkedSegmentRank, score.otherSegmentRank)
  )
}

function isNotRejected({ isDisplaced, isRejected }: MarkerScore): boolean {
  return !isDisplaced && !isRejected
}

/**
 * Trusts a marker of a turn without recognizable text (empty or edited) if the turn's parent or
 * child is in the same segment.
 */
function addRelatedTurns(
  { ancestry }: MarkedSegments,
  scores: readonly MarkerScore[],
  trustedPlaces: Map<RecordedTurn, number>,
): void {
  const scoreByTurn = new Map(scores.map((score) => [score.turn, score]))
  const trustBecauseOf = (
    { turn, segmentIndex, textScore, isDisplaced, isTextAbsent }: MarkerScore,
    other: MarkerScore,
  ): void => {
    if (trustedPlaces.get(other.turn) !== segmentIndex || trustedPlaces.has(turn)) return
    if (textScore < CONTAINED_MATCH && !isDisplaced && !isTextAbsent)
      trustedPlaces.set(turn, segmentIndex)
  }
  const compareWithParent = (score: MarkerScore, trustsParent: boolean): void => {
    const { turn, segmentIndex } = score
    const parent = ancestry.findParent(turn)
    const parentScore = parent === null ? undefined : scoreByTurn.get(parent)
    if (parentScore?.segmentIndex !== segmentIndex || turn.input.some(isUserMessage)) return
    // A turn without new input may continue an answer that was not stored.
    if (turn.input.length === 0 && !parentScore.hasSameQuestion) return
    if (trustsParent) trustBecauseOf(parentScore, score)
    else trustBecauseOf(score, parentScore)
  }
  for (const score of scores.toReversed()) compareWithParent(score, true)
  for (const score of scores) compareWithParent(score, false)
}

/**
 * Returns the turns that contradict the order of the segments, e.g. a turn before its own ancestor.
 * `trustedPlaces` maps turns to segment indexes.
 */
export function findMisplacedTurns(
  trustedPlaces: ReadonlyMap<RecordedTurn, number>,
  ancestry: TurnAncestry,
  segments: readonly Segment[],
): ReadonlySet<RecordedTurn> {
  const misplacedTurns = new Set<RecordedTurn>()
  for (const [turn, segmentIndex] of trustedPlaces) {
    let hasNewQuestion = turn.input.some(isUserMessage)
    for (const ancestor of ancestry.listAncestors(turn)) {
      const parentScore = trustedPlaces.get(ancestor)
      if (parentScore === undefined) {
        hasNewQuestion ||= ancestor.input.some(isUserMessage)
        continue
      }
      const isSameRound =
        segments[parentScore]?.userMessages === segments[segmentIndex]?.userMessages
      if (
        parentScore > segmentIndex ||
        (parentScore === segmentIndex ? hasNewQuestion : !hasNewQuestion && !isSameRound)
      )
        misplacedTurns.add(turn).add(ancestor)
      break
    }
  }
  return misplacedTurns
}
