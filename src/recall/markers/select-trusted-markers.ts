/**
 * Which markers of a client's text are to be believed, where no fingerprint knows better. Markers are
 * moved, copied and pasted. So a turn is attached only where its question and its words fit at least
 * as well as at any other run that nothing else explains; and words that were edited are a turn's
 * only if nothing else is known to be what they were. Where one marker was moved, others were, too:
 * then each has to fit its place better than any other. A turn that is doubted is nowhere.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { MarkedSegments } from './marker-score-inputs.ts'
import { scoreMarkers, type MarkerScore } from './score-markers.ts'
import { EXACT_MATCH, CONTAINED_MATCH } from './text-match-score.ts'

export interface TrustedMarkers {
  /** For each run those of its turns that are really its own. No turn is in two of them. */
  readonly turnsBySegment: readonly (readonly RecordedTurn[])[]
  /** The others that markers name. */
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
  const misplacedTurns = findMisplacedTurns(
    new Map([...markerPlaces, ...attachedPlaces]),
    ancestry,
    segments,
  )
  const trustedPlaces = mapTurnsToSegments(
    scores,
    hasMovedMarker || misplacedTurns.size > 0 ? isBestAnywhere : isBestUnmarked,
  )
  // Out of order only words count, and the whole of them.
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

/** As long as no marker is known to have been moved. */
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
 * A turn whose words do not tell, because it has none or they may have been edited, is where the marker
 * is if the turn that went on from it there, or from which it went on, is there.
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
    // With nothing new it may have gone on from an answer that was not kept.
    if (turn.input.length === 0 && !parentScore.hasSameQuestion) return
    if (trustsParent) trustBecauseOf(parentScore, score)
    else trustBecauseOf(score, parentScore)
  }
  for (const score of scores.toReversed()) compareWithParent(score, true)
  for (const score of scores) compareWithParent(score, false)
}

/** `places` tells the run of each turn. */
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
