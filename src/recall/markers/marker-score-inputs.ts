/**
 * All that is known of a list whose markers are to be judged: what its runs say, what was asked where,
 * and which turns are sure to be where they are.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { createQuestionLocator, type QuestionLocator } from '../matching/locate-turn-question.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { answerSameQuestion } from '../matching/turns-answer-same-question.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import {
  EXACT_MATCH,
  CONTAINED_MATCH,
  createTextMatcher,
  type TextMatchScore,
  type TextMatcher,
} from './text-match-score.ts'

export interface MarkedSegments {
  readonly runs: readonly Segment[]
  readonly kin: TurnAncestry
  /** For each run the turns that are known to be its own. */
  readonly attached: readonly (readonly RecordedTurn[])[]
  /** For each run of which that is not known the turns that its markers name, each once. */
  readonly named: readonly (readonly RecordedTurn[])[]
  /** Whether a marker is known to stand in a wrong place. */
  readonly isMoved: boolean
}

export interface MarkerScoringContext extends MarkedSegments {
  readonly words: TextMatcher
  readonly asked: QuestionLocator
  readonly fit: (turn: RecordedTurn, at: number) => TextMatchScore
  /** For each run the turns that are there, or whose markers are. */
  readonly there: readonly ReadonlySet<RecordedTurn>[]
  /** The turns that are known to be somewhere. */
  readonly isPlaced: ReadonlySet<RecordedTurn>
  /** The turns whose words are not where their marker is. */
  readonly isLoose: ReadonlySet<RecordedTurn>
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
  readonly turn: RecordedTurn
  readonly at: number
}

export function createMarkerScoringContext(marked: MarkedSegments): MarkerScoringContext {
  const { runs, kin, attached, named } = marked
  const words = createTextMatcher(runs)
  const spokenAt = runs.map((_, at) =>
    (named[at] ?? []).filter((turn) => words.fit(turn, at) >= CONTAINED_MATCH),
  )
  const left = runs.map((_, at) => {
    if ((attached[at] ?? []).length > 0) return 0
    const said = spokenAt[at]?.reduce((size, turn) => size + words.wordsOf(turn).length, 0) ?? 0
    return Math.max(0, words.saidAt(at).length - said)
  })
  // Several turns that a client has made one text of.
  const isTold = runs.map((_, at) => {
    const spoken = spokenAt[at] ?? []
    return (
      spoken.map(words.wordsOf).join('') === words.saidAt(at) && answerSameQuestion(spoken, kin)
    )
  })
  const fit = (turn: RecordedTurn, at: number): TextMatchScore => {
    const alone = words.fit(turn, at)
    const isOne =
      alone === CONTAINED_MATCH && isTold[at] === true && named[at]?.includes(turn) === true
    return isOne ? EXACT_MATCH : alone
  }
  const sure = runs.map((_, at) => {
    const own = attached[at]?.at(-1) ?? named[at]?.find((turn) => fit(turn, at) === EXACT_MATCH)
    return own === undefined ? null : { turn: own, at }
  })
  return {
    ...marked,
    words,
    fit,
    there: runs.map((_, at) => new Set([...(attached[at] ?? []), ...(named[at] ?? [])])),
    isPlaced: new Set(attached.flat()),
    isLoose: new Set(
      named.flatMap((own, at) => own.filter((turn) => fit(turn, at) < CONTAINED_MATCH)),
    ),
    asked: createQuestionLocator(runs, kin),
    left,
    unexplained: [...left.entries()].flatMap(([at, size]) => (size > 0 ? [at] : [])),
    before: nearest(sure),
    behind: nearest(sure.toReversed()).toReversed(),
    looks: MAX_MARKER_SEARCHES,
  }
}

/** Each look goes through all words of a list. Nobody edits so many answers. */
export const MAX_MARKER_SEARCHES = 200

/** For each place the last one before it. */
function nearest(places: readonly (Placed | null)[]): readonly (Placed | null)[] {
  let last: Placed | null = null
  return places.map((place) => {
    const before = last
    last = place ?? last
    return before
  })
}

export function rankTurnAt(court: MarkerScoringContext, turn: RecordedTurn, at: number): number {
  return (isQuestionAt(court, turn, at) ? QUESTION_RANK : 0) + court.fit(turn, at)
}

/** Whether it was asked there, or went on, with nothing new, with one that is there and was. */
export function isQuestionAt(
  { asked, kin, there }: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
): boolean {
  if (asked.isAskedAt(turn, at)) return true
  for (const ancestor of kin.ancestorsInAnswer(turn)) {
    if (there[at]?.has(ancestor) !== true) return false
    if (asked.isAskedAt(ancestor, at)) return true
  }
  return false
}

/** More than the best fit of words. */
export const QUESTION_RANK = 4
