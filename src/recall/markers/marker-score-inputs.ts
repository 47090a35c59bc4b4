/**
 * Collects the data with which markers (hidden texts in answers that name stored turns) are scored:
 * the text and the question of each answer segment (consecutive model-made items in the client's
 * list), and the turns that certainly belong to a segment.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { haveSameQuestion } from '../matching/classify-turn-input.ts'
import {
  createSegmentLocator,
  type SegmentLocator,
} from '../matching/locate-segments-by-question.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { listPreviousValues } from '../map-and-list-helpers.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import {
  EXACT_MATCH,
  CONTAINED_MATCH,
  createTextMatcher,
  type TextMatcher,
} from './text-match-score.ts'

export interface MarkedSegments {
  readonly segments: readonly Segment[]
  readonly ancestry: TurnAncestry
  /**
   * One list per answer segment: the turns that are already matched with it, e.g. by fingerprint.
   */
  readonly assignedTurnsBySegment: readonly (readonly RecordedTurn[])[]
  /**
   * One list per answer segment: the turns that the markers in its text name, each once, without
   * turns that are already matched or that have the fingerprint of another segment. Empty if the
   * segment already has a turn, or if several turns fit it equally well.
   */
  readonly markedTurnsBySegment: readonly (readonly RecordedTurn[])[]
  /**
   * True if a marker is already known to be in a wrong answer segment, because its turn belongs to
   * another segment. The other markers must then meet stricter rules.
   */
  readonly hasMovedMarker: boolean
}

export interface MarkerScoreInputs extends MarkedSegments, TextMatcher, SegmentLocator {
  /**
   * One set per answer segment: the turns that are matched with it, and the turns that its markers
   * name.
   */
  readonly assignedOrMarkedTurns: readonly ReadonlySet<RecordedTurn>[]
  /** All turns that are already matched with any answer segment. */
  readonly allAssignedTurns: ReadonlySet<RecordedTurn>
  /**
   * Turns with a marker in an answer segment that does not contain their complete text, e.g.
   * because the user edited it. Also turns without text.
   */
  readonly turnsWithMissingText: ReadonlySet<RecordedTurn>
  /**
   * One number per answer segment: how many characters of its text do not come from the turns that
   * its markers name, and so may come from other turns. 0 if the segment already has a turn.
   */
  readonly unexplainedChars: readonly number[]
  /**
   * Indexes of the answer segments with `unexplainedChars` above 0. Turns whose marker is in
   * another segment may belong to them.
   */
  readonly unexplainedSegments: readonly number[]
  /**
   * One entry per answer segment: the last certain turn in an earlier segment; `null` if there is
   * none. A turn is certain if it is already matched, or if the segment with its marker has exactly
   * its text.
   */
  readonly certainTurnBefore: readonly (CertainTurn | null)[]
  /**
   * One entry per answer segment: the first certain turn in a later segment; `null` if there is
   * none.
   */
  readonly certainTurnAfter: readonly (CertainTurn | null)[]
  /**
   * Number of turns with edited or moved text that may still be compared with all answer segments.
   * It begins at 200, because each of these comparisons reads many texts.
   */
  remainingComparisons: number
}

interface CertainTurn {
  readonly turn: RecordedTurn
  readonly segmentIndex: number
}

export function createMarkerScoreInputs(input: MarkedSegments): MarkerScoreInputs {
  const { segments, ancestry, assignedTurnsBySegment, markedTurnsBySegment } = input
  const textMatcher = createTextMatcher(segments)
  const containedTurns = markedTurnsBySegment.map((turns, index) =>
    turns.filter((turn) => textMatcher.scoreText(turn, index) >= CONTAINED_MATCH),
  )
  const containedTexts = containedTurns.map((turns) => turns.map(textMatcher.getTurnText).join(''))
  const unexplainedChars = containedTexts.map((text, index) => {
    const chars = textMatcher.getSegmentText(index).length - text.length
    return assignedTurnsBySegment[index]?.length === 0 ? Math.max(0, chars) : 0
  })
  // Clients may join the texts of several turns of one answer. True for a segment if the turns that
  // its markers name have exactly its text when joined, and answer the same question.
  const isJoinedText = containedTurns.map(
    (turns, index) =>
      containedTexts[index] === textMatcher.getSegmentText(index) &&
      haveSameQuestion(turns, ancestry),
  )
  const scoreText: TextMatcher['scoreText'] = (turn, index) =>
    isJoinedText[index] === true && containedTurns[index]?.includes(turn) === true
      ? EXACT_MATCH
      : textMatcher.scoreText(turn, index)
  const certainTurns = segments.map((_, index) => {
    const turn =
      assignedTurnsBySegment[index]?.at(-1) ??
      markedTurnsBySegment[index]?.find((marked) => scoreText(marked, index) === EXACT_MATCH)
    return turn === undefined ? null : { turn, segmentIndex: index }
  })
  const turnsWithMissingText = markedTurnsBySegment.flatMap((turns, index) =>
    turns.filter((turn) => scoreText(turn, index) < CONTAINED_MATCH),
  )
  return {
    ...input,
    ...textMatcher,
    ...createSegmentLocator(segments, ancestry),
    scoreText,
    assignedOrMarkedTurns: assignedTurnsBySegment.map(
      (turns, index) => new Set([...turns, ...(markedTurnsBySegment[index] ?? [])]),
    ),
    allAssignedTurns: new Set(assignedTurnsBySegment.flat()),
    turnsWithMissingText: new Set(turnsWithMissingText),
    unexplainedChars,
    unexplainedSegments: [...segments.keys()].filter((index) => unexplainedChars[index] !== 0),
    certainTurnBefore: listPreviousValues(certainTurns),
    certainTurnAfter: listPreviousValues(certainTurns.toReversed()).toReversed(),
    remainingComparisons: MAX_TURNS_COMPARED_WITH_ALL_SEGMENTS,
  }
}

/**
 * Max number of turns that are compared with all answer segments because the segment with their
 * marker does not have exactly their text. The limit is necessary because such a comparison reads
 * the text of each segment.
 */
export const MAX_TURNS_COMPARED_WITH_ALL_SEGMENTS = 200

/**
 * Returns how well a turn fits an answer segment, from 0 to 7: 4 points if the segment answers the
 * turn's question, plus the text score (0 to 3). For example, a turn whose question comes before
 * the segment and whose complete text is a part of the segment's text gets 4 + 2.
 */
export function rankTurnInSegment(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
): number {
  const points = isQuestionOfAnswerBefore(inputs, turn, segmentIndex) ? SAME_QUESTION_POINTS : 0
  return points + inputs.scoreText(turn, segmentIndex)
}

/**
 * True if the turn's question comes before the answer segment. If the turn continues an answer, the
 * question of that answer's earlier turns counts, too, if these turns are matched with the segment
 * or named by its markers.
 */
export function isQuestionOfAnswerBefore(
  { isQuestionOfTurnBefore, ancestry, assignedOrMarkedTurns }: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
): boolean {
  if (isQuestionOfTurnBefore(turn, segmentIndex)) return true
  for (const ancestor of ancestry.listAncestorsInAnswer(turn)) {
    if (assignedOrMarkedTurns[segmentIndex]?.has(ancestor) !== true) return false
    if (isQuestionOfTurnBefore(ancestor, segmentIndex)) return true
  }
  return false
}

/**
 * Points for a turn whose question comes before the answer segment. They exceed the highest text
 * score (3), because users edit answers more often than questions.
 */
export const SAME_QUESTION_POINTS = 4
