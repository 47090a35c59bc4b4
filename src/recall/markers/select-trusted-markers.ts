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
  readonly turns: readonly (readonly RecordedTurn[])[]
  /** The others that markers name. */
  readonly doubted: ReadonlySet<RecordedTurn>
}

export function selectTrustedMarkers(marked: MarkedSegments): TrustedMarkers {
  const { named, attached, kin, runs } = marked
  const { claims, isMoved } = scoreMarkers(marked)
  const settled = new Map(attached.flatMap((own, at) => own.map((turn) => [turn, at] as const)))
  const claimed = settledOn(claims, () => true)
  const wrong = findMisplacedTurns(new Map([...claimed, ...settled]), kin, runs)
  const places = settledOn(claims, isMoved || wrong.size > 0 ? isBest : isFair)
  // Out of order only words count, and the whole of them.
  for (const { turn, fit } of claims) {
    const isDoubtful = wrong.has(turn) ? fit < EXACT_MATCH : wrong.size > 0 && fit < CONTAINED_MATCH
    if (isDoubtful) places.delete(turn)
  }
  bringSilent(marked, claims, places)
  return {
    turns: named.map((own, at) => own.filter((turn) => places.get(turn) === at)),
    doubted: new Set(named.flat().filter((turn) => !places.has(turn))),
  }
}

function settledOn(
  claims: readonly MarkerScore[],
  isTrue: (claim: MarkerScore) => boolean,
): Map<RecordedTurn, number> {
  return new Map(claims.filter(isTrue).map(({ turn, at }) => [turn, at]))
}

/** As long as no marker is known to have been moved. */
function isFair(claim: MarkerScore): boolean {
  const { rank, fit, openRank } = claim
  if (!isPossible(claim)) return false
  return fit === EXACT_MATCH ? rank >= openRank : rank > openRank
}

function isBest(claim: MarkerScore): boolean {
  return isPossible(claim) && claim.rank > Math.max(claim.openRank, claim.otherRank)
}

function isPossible({ isDisplaced, isRefused }: MarkerScore): boolean {
  return !isDisplaced && !isRefused
}

/**
 * A turn whose words do not tell, because it has none or they may have been edited, is where the marker
 * is if the turn that went on from it there, or from which it went on, is there.
 */
function bringSilent(
  { kin }: MarkedSegments,
  claims: readonly MarkerScore[],
  places: Map<RecordedTurn, number>,
): void {
  const claimOf = new Map(claims.map((claim) => [claim.turn, claim]))
  const bring = (
    { turn, at, fit, isDisplaced, isUnsaid }: MarkerScore,
    other: MarkerScore,
  ): void => {
    if (places.get(other.turn) !== at || places.has(turn)) return
    if (fit < CONTAINED_MATCH && !isDisplaced && !isUnsaid) places.set(turn, at)
  }
  const join = (claim: MarkerScore, bringsParent: boolean): void => {
    const { turn, at } = claim
    const parent = kin.parent(turn)
    const before = parent === null ? undefined : claimOf.get(parent)
    if (before?.at !== at || turn.input.some(isUserMessage)) return
    // With nothing new it may have gone on from an answer that was not kept.
    if (turn.input.length === 0 && !before.isAsked) return
    if (bringsParent) bring(before, claim)
    else bring(claim, before)
  }
  for (const claim of claims.toReversed()) join(claim, true)
  for (const claim of claims) join(claim, false)
}

/** `places` tells the run of each turn. */
export function findMisplacedTurns(
  places: ReadonlyMap<RecordedTurn, number>,
  kin: TurnAncestry,
  runs: readonly Segment[],
): ReadonlySet<RecordedTurn> {
  const wrong = new Set<RecordedTurn>()
  for (const [turn, at] of places) {
    let isAsked = turn.input.some(isUserMessage)
    for (const ancestor of kin.ancestors(turn)) {
      const before = places.get(ancestor)
      if (before === undefined) {
        isAsked ||= ancestor.input.some(isUserMessage)
        continue
      }
      const isOneRound = runs[before]?.asked === runs[at]?.asked
      if (before > at || (before === at ? isAsked : !isAsked && !isOneRound))
        wrong.add(turn).add(ancestor)
      break
    }
  }
  return wrong
}
