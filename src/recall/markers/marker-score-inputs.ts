/**
 * Prepares the scoring of markers: reads the text and the question of each segment, and the turns
 * whose segments are certain.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { createQuestionLocator, type QuestionLocator } from '../matching/locate-turn-question.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { haveSameQuestion } from '../matching/turns-answer-same-question.ts'
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
  /** One list per segment: the turns that are already assigned to it. */
  readonly attachedTurns: readonly (readonly RecordedTurn[])[]
  /** One list per segment: the turns that its markers name, each once; empty if turns are assigned. */
  readonly namedTurns: readonly (readonly RecordedTurn[])[]
  /** True if at least one marker is known to be in a wrong segment. */
  readonly hasMovedMarker: boolean
}

export interface MarkerContext extends MarkedSegments {
  readonly textMatcher: TextMatcher
  readonly questionLocator: QuestionLocator
  readonly scoreText: (turn: RecordedTurn, index: number) => TextMatchScore
  /** One set per segment: its assigned turns and the turns that its markers name. */
  readonly turnsOrMarkersAt: readonly ReadonlySet<RecordedTurn>[]
  /** All turns that are assigned to any segment. */
  readonly allAttachedTurns: ReadonlySet<RecordedTurn>
  /** Turns whose text is not contained in the segment with their marker. */
  readonly turnsWithoutText: ReadonlySet<RecordedTurn>
  /**
   * One number per segment: the characters of its text that are in no turn that its markers name;
   * 0 if turns are already assigned.
   */
  readonly unexplainedChars: readonly number[]
  /** Indexes of the segments with `unexplainedChars` above 0. */
  readonly unexplainedSegments: readonly number[]
  /**
   * For each segment, the last certain turn before it and the first one after it. A turn is certain
   * if it is assigned, or if its marker is in a segment with exactly its text.
   */
  readonly certainBefore: readonly (CertainTurn | null)[]
  readonly certainAfter: readonly (CertainTurn | null)[]
  /** The number of turns that may still be searched in all segments; starts at 200. */
  remainingSearches: number
}

interface CertainTurn {
  readonly turn: RecordedTurn
  readonly segmentIndex: number
}

export function createMarkerContext(input: MarkedSegments): MarkerContext {
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
  // True if the client joined the texts of several turns into exactly the segment's text.
  const isExplainedTogether = segments.map((_, index) => {
    const contained = containedTurns[index] ?? []
    return (
      contained.map(textMatcher.getTurnText).join('') === textMatcher.getSegmentText(index) &&
      haveSameQuestion(contained, ancestry)
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
    certainBefore: findLastBefore(certainTurns),
    certainAfter: findLastBefore(certainTurns.toReversed()).toReversed(),
    remainingSearches: MAX_MARKER_SEARCHES,
  }
}

/** Max turns that are searched in all segments. Each search is slow: it reads the text of every segment. */
export const MAX_MARKER_SEARCHES = 200

/** Returns for each index the last turn before it. */
function findLastBefore(turns: readonly (CertainTurn | null)[]): readonly (CertainTurn | null)[] {
  let latest: CertainTurn | null = null
  return turns.map((turn) => {
    const previous = latest
    latest = turn ?? latest
    return previous
  })
}

/** Returns 0 to 7: 4 if the segment answers the turn's question, plus the text score (0 to 3). */
export function rankTurnAt(context: MarkerContext, turn: RecordedTurn, index: number): number {
  return (isQuestionAt(context, turn, index) ? QUESTION_RANK : 0) + context.scoreText(turn, index)
}

/**
 * True if the segment answers the question of the turn, or of an earlier turn of the same answer
 * that is in the segment, too.
 */
export function isQuestionAt(
  { questionLocator, ancestry, turnsOrMarkersAt }: MarkerContext,
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

/** Higher than the highest text score (3), so that the question outweighs the text. */
export const QUESTION_RANK = 4
