/**
 * What speaks for each marker of a list, and what against it: how well its turn fits the run where it
 * stands, and how well any other run. A question that is the same says more than words, because words
 * are edited more often.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'
import { isUserMessage } from '../conversation/rounds.ts'
import { askedWhere, type AskedWhere } from './asked-where.ts'
import { isStranger } from './is-stranger.ts'
import type { Kin } from './kin.ts'
import type { Run } from './plan-recall.ts'
import { EXACT, WHOLE, wordFit, type Fit, type WordFit } from './word-fit.ts'

export interface MarkedRuns {
  readonly runs: readonly Run[]
  readonly kin: Kin
  /** For each run the turns that are known to be its own. */
  readonly attached: readonly (readonly RememberedTurn[])[]
  /** For each run of which that is not known the turns that its markers name, each once. */
  readonly named: readonly (readonly RememberedTurn[])[]
  /** Whether a marker is known to stand in a wrong place. */
  readonly isMoved: boolean
}

export interface Claim {
  readonly turn: RememberedTurn
  /** Of the runs that carry its marker the one that it fits best. */
  readonly at: number
  readonly isAsked: boolean
  readonly fit: Fit
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
}

/** `isMoved`, too, if the claims show it. */
export function claimsIn(marked: MarkedRuns): {
  readonly claims: readonly Claim[]
  readonly isMoved: boolean
} {
  const places = new Map<RememberedTurn, number[]>()
  for (const [at, turns] of marked.named.entries()) {
    for (const turn of turns) {
      const known = places.get(turn)
      if (known === undefined) places.set(turn, [at])
      else known.push(at)
    }
  }
  const court = openCourt(marked)
  const claims = [...places].map(([turn, own]) => claimOf(court, turn, own))
  const isCopied = [...places.values()].some((own) => own.length > 1)
  return {
    claims,
    isMoved: marked.isMoved || isCopied || claims.some(({ isDisplaced }) => isDisplaced),
  }
}

interface Court extends MarkedRuns {
  readonly words: WordFit
  readonly asked: AskedWhere
  readonly fit: (turn: RememberedTurn, at: number) => Fit
  /** For each run the turns that are there, or whose markers are. */
  readonly there: readonly ReadonlySet<RememberedTurn>[]
  /** The turns that are known to be somewhere. */
  readonly isPlaced: ReadonlySet<RememberedTurn>
  /** The turns whose words are not where their marker is. */
  readonly isLoose: ReadonlySet<RememberedTurn>
  /** How much of what is said in a run none of its turns has said; 0 where all are known. */
  readonly left: readonly number[]
  /** The runs with something left. */
  readonly unexplained: readonly number[]
  /** The nearest turn before a run, and behind it, of which the words or more are sure. */
  readonly before: readonly (Placed | null)[]
  readonly behind: readonly (Placed | null)[]
  /** How many turns may still be looked for in the whole list. */
  looks: number
}

interface Placed {
  readonly turn: RememberedTurn
  readonly at: number
}

function openCourt(marked: MarkedRuns): Court {
  const { runs, kin, attached, named } = marked
  const words = wordFit(runs)
  const spokenAt = runs.map((_, at) =>
    (named[at] ?? []).filter((turn) => words.fit(turn, at) >= WHOLE),
  )
  const left = runs.map((_, at) => {
    if ((attached[at] ?? []).length > 0) return 0
    const said = spokenAt[at]?.reduce((size, turn) => size + words.wordsOf(turn).length, 0) ?? 0
    return Math.max(0, words.saidAt(at).length - said)
  })
  // Several turns that a client has made one text of.
  const isTold = runs.map(
    (_, at) => (spokenAt[at] ?? []).map(words.wordsOf).join('') === words.saidAt(at),
  )
  const fit = (turn: RememberedTurn, at: number): Fit => {
    const alone = words.fit(turn, at)
    const isOne = alone === WHOLE && isTold[at] === true && named[at]?.includes(turn) === true
    return isOne ? EXACT : alone
  }
  const sure = runs.map((_, at) => {
    const own = attached[at]?.at(-1) ?? named[at]?.find((turn) => fit(turn, at) === EXACT)
    return own === undefined ? null : { turn: own, at }
  })
  return {
    ...marked,
    words,
    fit,
    there: runs.map((_, at) => new Set([...(attached[at] ?? []), ...(named[at] ?? [])])),
    isPlaced: new Set(attached.flat()),
    isLoose: new Set(named.flatMap((own, at) => own.filter((turn) => fit(turn, at) < WHOLE))),
    asked: askedWhere(runs, kin),
    left,
    unexplained: [...left.entries()].flatMap(([at, size]) => (size > 0 ? [at] : [])),
    before: nearest(sure),
    behind: nearest(sure.toReversed()).toReversed(),
    looks: MOST_LOOKS,
  }
}

/** Each look goes through all words of a list. Nobody edits so many answers. */
const MOST_LOOKS = 200

/** For each place the last one before it. */
function nearest(places: readonly (Placed | null)[]): readonly (Placed | null)[] {
  let last: Placed | null = null
  return places.map((place) => {
    const before = last
    last = place ?? last
    return before
  })
}

function claimOf(court: Court, turn: RememberedTurn, own: readonly number[]): Claim {
  const ranks = own.map((at) => rankOf(court, turn, at))
  const rank = Math.max(...ranks)
  const at = own[ranks.indexOf(rank)] ?? 0
  const fit = court.fit(turn, at)
  const isAsked = isAskedAt(court, turn, at)
  let [openRank, otherRank, unexplainedRank] = [-1, -1, -1]
  let isSaidElsewhere = false
  const rivals = rivalsOf(court, turn, at)
  for (const rival of rivals ?? []) {
    const there = rankOf(court, turn, rival)
    otherRank = Math.max(otherRank, there)
    if (court.left[rival] === 0) continue
    unexplainedRank = Math.max(unexplainedRank, there)
    isSaidElsewhere ||=
      court.words.wordsOf(turn) !== '' &&
      court.fit(turn, rival) >= WHOLE &&
      (!isAsked || isAskedAt(court, turn, rival))
    if (court.named[rival]?.length === 0) openRank = Math.max(openRank, there)
  }
  const isTorn = ranks.filter((one) => one === rank).length > 1
  const isMissed = fit < WHOLE && isSaidElsewhere
  const isDisplaced = isTorn || isMissed || unexplainedRank > rank
  const isRefused = rivals === null || (fit < EXACT && speaksAgainst(court, turn, at))
  return { turn, at, isAsked, fit, rank, openRank, otherRank, isDisplaced, isRefused }
}

function rankOf(court: Court, turn: RememberedTurn, at: number): number {
  return (isAskedAt(court, turn, at) ? ASKED : 0) + court.fit(turn, at)
}

/** Whether it was asked there, or went on, with nothing new, with one that is there and was. */
function isAskedAt({ asked, kin, there }: Court, turn: RememberedTurn, at: number): boolean {
  if (asked.isAskedAt(turn, at)) return true
  let { input } = turn
  for (const ancestor of kin.ancestors(turn)) {
    if (input.length > 0 || there[at]?.has(ancestor) !== true) return false
    if (asked.isAskedAt(ancestor, at)) return true
    input = ancestor.input
  }
  return false
}

/** More than the best fit of words. */
const ASKED = 4

/** The other runs that may be the turn's; `null` if it is not worth to look for them. */
function rivalsOf(court: Court, turn: RememberedTurn, at: number): readonly number[] | null {
  const { words, asked, unexplained, attached } = court
  if (court.fit(turn, at) < EXACT) {
    court.looks -= 1
    if (court.looks < 0) return null
    const [from, to] = stretchOf(court, turn, at)
    return unexplained.filter((other) => other !== at && other >= from && other <= to)
  }
  const same = words
    .runsSaying(words.wordsOf(turn))
    .slice(0, MOST_LOOKS)
    .filter((other) => other !== at && attached[other]?.length === 0)
  if (isAskedAt(court, turn, at)) return same
  return [...same, ...unexplained.filter((other) => asked.isAskedAt(turn, other))]
}

/** No turn stands before one that it goes on from, nor behind one that goes on from it. */
function stretchOf(court: Court, turn: RememberedTurn, at: number): readonly [number, number] {
  const [before, behind] = [court.before[at] ?? null, court.behind[at] ?? null]
  const isAfter = before !== null && court.kin.isDescendant(turn, before.turn)
  const isFollowed = behind !== null && court.kin.isDescendant(behind.turn, turn)
  return [isAfter ? before.at : 0, isFollowed ? behind.at : court.runs.length]
}

/** Where the words are not quite those of the turn: what else they may be, and whose. */
function speaksAgainst(court: Court, turn: RememberedTurn, at: number): boolean {
  const { words, asked, left, kin } = court
  const [fit, rank, said] = [court.fit(turn, at), rankOf(court, turn, at), words.saidAt(at)]
  const isWhole = fit >= WHOLE
  // Of edited words only its question, or what its tools have said, can tell whose they are.
  const isKnown = asked.questionOf(turn) !== ''
  const isGiven = !isKnown && fit > 0 && asked.isGivenAt(turn, at)
  if (!isWhole && !isAskedAt(court, turn, at) && !isGiven) return true
  const isSilent = words.wordsOf(turn) === ''
  if (!isWhole && !isSilent && said !== '' && left[at] === 0) return true
  // Without words of its own it has but the question, and that must be asked nowhere else.
  if (isSilent && court.runs.some((_, other) => other !== at && asked.isAskedAt(turn, other))) {
    return true
  }
  if (!isWhole && isOutOfPlace(court, turn, at)) return true
  const isLikelier = (other: RememberedTurn): boolean => {
    const others = rankOf(court, other, at)
    return (
      others > rank ||
      (!isWhole && others === rank && court.isLoose.has(other) && court.fit(other, at) > 0)
    )
  }
  return kin.all.some(
    (other) =>
      other !== turn &&
      !court.isPlaced.has(other) &&
      isLikelier(other) &&
      !isWithin(kin, turn, other) &&
      !isWithin(kin, other, turn) &&
      !isOutOfPlace(court, other, at),
  )
}

/** Whether what is sure to stand before it, or behind it, is of another branch. */
function isOutOfPlace(court: Court, turn: RememberedTurn, at: number): boolean {
  const { kin } = court
  const [before, behind] = [court.before[at] ?? null, court.behind[at] ?? null]
  if (before !== null && isStranger(kin, turn, before.turn)) return true
  return behind !== null && isStranger(kin, behind.turn, turn)
}

/** Whether a turn goes on from another without having been asked anything new. */
function isWithin(kin: Kin, turn: RememberedTurn, other: RememberedTurn): boolean {
  if (turn.input.some(isUserMessage)) return false
  for (const ancestor of kin.ancestors(turn)) {
    if (ancestor === other) return true
    if (ancestor.input.some(isUserMessage)) return false
  }
  return false
}
