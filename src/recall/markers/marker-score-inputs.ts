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
  readonly segments: readonly Segment[]
  readonly ancestry: TurnAncestry
  /** For each run the turns that are known to be its own. */
  readonly attachedTurns: readonly (readonly RecordedTurn[])[]
  /** For each run of which that is not known the turns that its markers name, each once. */
  readonly namedTurns: readonly (readonly RecordedTurn[])[]
  /** Whether a marker is known to stand in a wrong place. */
  readonly hasMovedMarker: boolean
}

export interface MarkerScoringContext extends MarkedSegments {
  readonly textMatcher: TextMatcher
  readonly questionLocator: QuestionLocator
  readonly scoreText: (turn: RecordedTurn, index: number) => TextMatchScore
  /** For each run the turns that are there, or whose markers are. */
  readonly turnsOrMarkersAt: readonly ReadonlySet<RecordedTurn>[]
  /** The turns that are known to be somewhere. */
  readonly allAttachedTurns: ReadonlySet<RecordedTurn>
  /** The turns whose words are not where their marker is. */
  readonly turnsWithoutText: ReadonlySet<RecordedTurn>
  /** How much of what is said in a run none of its turns has said; 0 where all are known. */
  readonly unexplainedChars: readonly number[]
  /** The runs with something left. */
  readonly unexplainedSegments: readonly number[]
  /** The nearest turn before a run, and behind it, of which the words or more are sure. */
  readonly certainBefore: readonly (CertainTurn | null)[]
  readonly certainAfter: readonly (CertainTurn | null)[]
  /** How many turns may still be looked for in the whole list. */
  remainingSearches: number
}

interface CertainTurn {
  readonly turn: RecordedTurn
  readonly segmentIndex: number
}

export function createMarkerScoringContext(input: MarkedSegments): MarkerScoringContext {
  const { segments, ancestry, attachedTurns, namedTurns } = input
  const textMatcher = createTextMatcher(segments)
  const containedTurns = segments.map((_, index) =>
    (namedTurns[index] ?? []).filter(
      (turn) => textMatcher.scoreText(turn, index) >= CONTAINED_MATCH,
    ),
  )
  const unexplainedChars = segments.map((_, index) => {
    if ((attachedTurns[index] ?? []).length > 0) return 0
    const explainedChars =
      containedTurns[index]?.reduce(
        (size, turn) => size + textMatcher.getTurnText(turn).length,
        0,
      ) ?? 0
    return Math.max(0, textMatcher.getSegmentText(index).length - explainedChars)
  })
  // Several turns that a client has made one text of.
  const isExplainedTogether = segments.map((_, index) => {
    const contained = containedTurns[index] ?? []
    return (
      contained.map(textMatcher.getTurnText).join('') === textMatcher.getSegmentText(index) &&
      answerSameQuestion(contained, ancestry)
    )
  })
  const scoreText = (turn: RecordedTurn, index: number): TextMatchScore => {
    const score = textMatcher.scoreText(turn, index)
    const isJoined =
      score === CONTAINED_MATCH &&
      isExplainedTogether[index] === true &&
      namedTurns[index]?.includes(turn) === true
    return isJoined ? EXACT_MATCH : score
  }
  const certainTurns = segments.map((_, index) => {
    const certainTurn =
      attachedTurns[index]?.at(-1) ??
      namedTurns[index]?.find((turn) => scoreText(turn, index) === EXACT_MATCH)
    return certainTurn === undefined ? null : { turn: certainTurn, segmentIndex: index }
  })
  return {
    ...input,
    textMatcher,
    scoreText,
    turnsOrMarkersAt: segments.map(
      (_, index) => new Set([...(attachedTurns[index] ?? []), ...(namedTurns[index] ?? [])]),
    ),
    allAttachedTurns: new Set(attachedTurns.flat()),
    turnsWithoutText: new Set(
      namedTurns.flatMap((turns, index) =>
        turns.filter((turn) => scoreText(turn, index) < CONTAINED_MATCH),
      ),
    ),
    questionLocator: createQuestionLocator(segments, ancestry),
    unexplainedChars,
    unexplainedSegments: [...unexplainedChars.entries()].flatMap(([index, size]) =>
      size > 0 ? [index] : [],
    ),
    certainBefore: findNearestBefore(certainTurns),
    certainAfter: findNearestBefore(certainTurns.toReversed()).toReversed(),
    remainingSearches: MAX_MARKER_SEARCHES,
  }
}

/** Each look goes through all words of a list. Nobody edits so many answers. */
export const MAX_MARKER_SEARCHES = 200

/** For each place the last one before it. */
function findNearestBefore(
  turns: readonly (CertainTurn | null)[],
): readonly (CertainTurn | null)[] {
  let latest: CertainTurn | null = null
  return turns.map((turn) => {
    const previous = latest
    latest = turn ?? latest
    return previous
  })
}

export function rankTurnAt(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): number {
  return (isQuestionAt(context, turn, index) ? QUESTION_RANK : 0) + context.scoreText(turn, index)
}

/** Whether it was asked there, or went on, with nothing new, with one that is there and was. */
export function isQuestionAt(
  { questionLocator, ancestry, turnsOrMarkersAt }: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
  if (questionLocator.isAskedAt(turn, index)) return true
  for (const ancestor of ancestry.listAncestorsInAnswer(turn)) {
    if (turnsOrMarkersAt[index]?.has(ancestor) !== true) return false
    if (questionLocator.isAskedAt(ancestor, index)) return true
  }
  return false
}

/** More than the best fit of words. */
export const QUESTION_RANK = 4
