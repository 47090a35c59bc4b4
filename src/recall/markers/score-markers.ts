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

export interface MarkerScore {
  readonly turn: RecordedTurn
  /** Of the runs that carry its marker the one that it fits best. */
  readonly at: number
  readonly isAsked: boolean
  readonly fit: TextMatchScore
  /** Question and words together: the higher, the better it fits. */
  readonly rank: number
  /** The highest rank at a run that nothing explains, and that has no marker. */
  readonly openRank: number
  /** At any other run. */
  readonly otherRank: number
  /** Whether it fits another run better, or two runs that carry its marker. */
  readonly isDisplaced: boolean
  /** Whether nothing at all speaks for it here, or more for another turn. */
  readonly isRefused: boolean
  /** Whether it has words, and nothing that is said here can be what has become of them. */
  readonly isUnsaid: boolean
}

/** `isMoved`, too, if the claims show it. */
export function scoreMarkers(marked: MarkedSegments): {
  readonly claims: readonly MarkerScore[]
  readonly isMoved: boolean
} {
  const places = new Map<RecordedTurn, number[]>()
  for (const [at, turns] of marked.named.entries()) {
    for (const turn of turns) {
      const known = places.get(turn)
      if (known === undefined) places.set(turn, [at])
      else known.push(at)
    }
  }
  const court = createMarkerScoringContext(marked)
  const claims = [...places].map(([turn, own]) => claimOf(court, turn, own))
  const isCopied = [...places.values()].some((own) => own.length > 1)
  return {
    claims,
    isMoved: marked.isMoved || isCopied || claims.some(({ isDisplaced }) => isDisplaced),
  }
}

function claimOf(
  court: MarkerScoringContext,
  turn: RecordedTurn,
  own: readonly number[],
): MarkerScore {
  const ranks = own.map((at) => rankTurnAt(court, turn, at))
  const rank = Math.max(...ranks)
  const at = own[ranks.indexOf(rank)] ?? 0
  const fit = court.fit(turn, at)
  const isAsked = isQuestionAt(court, turn, at)
  let [openRank, otherRank, unexplainedRank] = [-1, -1, -1]
  let isSaidElsewhere = false
  const rivals = rivalsOf(court, turn, at)
  for (const rival of rivals ?? []) {
    const there = rankTurnAt(court, turn, rival)
    otherRank = Math.max(otherRank, there)
    if (court.left[rival] === 0) continue
    unexplainedRank = Math.max(unexplainedRank, there)
    isSaidElsewhere ||=
      court.words.wordsOf(turn) !== '' &&
      court.fit(turn, rival) >= CONTAINED_MATCH &&
      (!isAsked || isQuestionAt(court, turn, rival))
    if (court.named[rival]?.length === 0) openRank = Math.max(openRank, there)
  }
  const isTorn = own.some(
    (other, place) =>
      other !== at &&
      (ranks[place] === rank ||
        (fit < CONTAINED_MATCH && court.fit(turn, other) >= CONTAINED_MATCH)),
  )
  const isMissed = fit < CONTAINED_MATCH && isSaidElsewhere
  const isDisplaced = isTorn || isMissed || unexplainedRank > rank
  // What is refused for want of looks is not looked at any more.
  const isUnsaid = rivals === null || isTextAbsentAt(court, turn, at)
  const isRefused =
    rivals === null || (fit < EXACT_MATCH && (isUnsaid || hasCounterEvidence(court, turn, at)))
  return { turn, at, isAsked, fit, rank, openRank, otherRank, isDisplaced, isRefused, isUnsaid }
}

/** The other runs that may be the turn's; `null` if it is not worth to look for them. */
function rivalsOf(
  court: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
): readonly number[] | null {
  const { words, asked, unexplained, attached } = court
  if (court.fit(turn, at) < EXACT_MATCH) {
    court.looks -= 1
    if (court.looks < 0) return null
    const [from, to] = stretchOf(court, turn, at)
    return unexplained.filter((other) => other !== at && other >= from && other <= to)
  }
  const same = words
    .runsSaying(words.wordsOf(turn))
    .slice(0, MAX_MARKER_SEARCHES)
    .filter((other) => other !== at && attached[other]?.length === 0)
  if (isQuestionAt(court, turn, at)) return same
  return [...same, ...unexplained.filter((other) => asked.isAskedAt(turn, other))]
}

/** No turn stands before one that it goes on from, nor behind one that goes on from it. */
function stretchOf(
  court: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
): readonly [number, number] {
  const [before, behind] = [court.before[at] ?? null, court.behind[at] ?? null]
  const isAfter = before !== null && court.kin.isDescendant(turn, before.turn)
  const isFollowed = behind !== null && court.kin.isDescendant(behind.turn, turn)
  return [isAfter ? before.at : 0, isFollowed ? behind.at : court.runs.length]
}
