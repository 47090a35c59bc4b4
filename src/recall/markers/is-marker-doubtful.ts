/**
 * Finds reasons to doubt a marker (hidden text in an answer that names a stored turn). If an answer
 * in the client's list does not have exactly the turn's text, the user has edited the answer or
 * moved the marker. A marker is doubtful if the turn answers another question, if the turn comes
 * from another branch of the conversation, or if another turn fits the answer better.
 */
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { hasSameContent } from '../compare-items.ts'
import { mayAnswerLastQuestion } from '../matching/compare-questions.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import {
  SAME_QUESTION_POINTS,
  isQuestionOfAnswerBefore,
  rankTurnInSegment,
  type MarkerScoreInputs,
} from './marker-score-inputs.ts'
import { CONTAINED_MATCH } from './text-match-score.ts'

/**
 * True if the marker's turn may not belong to the answer segment (consecutive model-made items in
 * the client's list) with the marker. The marker is then not trusted. Called only if the segment
 * does not have exactly the turn's text, but may have an edit of it (`isTurnTextAbsent` is false).
 */
export function isMarkerDoubtful(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
): boolean {
  const rank = rankTurnInSegment(inputs, turn, segmentIndex)
  const containsText = inputs.scoreText(turn, segmentIndex) >= CONTAINED_MATCH
  // A turn without text can be recognized only by its question, so no other segment may have the
  // same question.
  if (inputs.getTurnText(turn) === '' && !isQuestionOnlyBefore(inputs, turn, segmentIndex))
    return true
  if (!containsText && isInOtherBranch(inputs, turn, segmentIndex)) return true
  return hasRivalTurn(inputs, turn, segmentIndex, (other) => {
    const otherRank = rankTurnInSegment(inputs, other, segmentIndex)
    return (
      otherRank > rank ||
      (!containsText &&
        otherRank === rank &&
        inputs.turnsWithMissingText.has(other) &&
        inputs.scoreText(other, segmentIndex) > 0)
    )
  })
}

/**
 * True if another turn may belong to the answer segment instead of `turn`, and `isRival` returns
 * true for it. Turns that are already assigned, and turns of the same answer as `turn`, are not
 * rivals.
 */
function hasRivalTurn(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
  isRival: (other: RecordedTurn) => boolean,
): boolean {
  const { ancestry, allAssignedTurns } = inputs
  // A turn that comes from another branch of the conversation than the segment is no rival, unless
  // `turn` itself comes from another branch.
  const isTurnInOtherBranch = isInOtherBranch(inputs, turn, segmentIndex)
  return ancestry.allTurns.some(
    (other) =>
      other !== turn &&
      !allAssignedTurns.has(other) &&
      isRival(other) &&
      !continuesTurn(ancestry, turn, other) &&
      !continuesTurn(ancestry, other, turn) &&
      (isTurnInOtherBranch || !isInOtherBranch(inputs, other, segmentIndex)),
  )
}

/**
 * True if the answer segment cannot have the turn's text, not even edited: the turn answers another
 * question, the segment's text comes completely from other turns, or another turn has the same
 * question and its complete text is in the segment. False for a turn without text, and if the
 * segment contains the turn's complete text.
 */
export function isTurnTextAbsent(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
): boolean {
  const { getTurnText, scoreText, getSegmentText, unexplainedChars } = inputs
  if (getTurnText(turn) === '' || scoreText(turn, segmentIndex) >= CONTAINED_MATCH) return false
  if (lacksQuestionBefore(inputs, turn, segmentIndex)) return true
  if (getSegmentText(segmentIndex) !== '' && unexplainedChars[segmentIndex] === 0) return true
  return hasRivalTurn(
    inputs,
    turn,
    segmentIndex,
    (other) =>
      getTurnText(other) !== '' &&
      rankTurnInSegment(inputs, other, segmentIndex) >= SAME_QUESTION_POINTS + CONTAINED_MATCH,
  )
}

/**
 * True if nothing connects the answer segment with the turn's question. If the question is known,
 * it must come before the segment. If it is unknown, one of the turn's tool outputs must come
 * before the segment, and the segment must have a part of the turn's text.
 */
function lacksQuestionBefore(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  index: number,
): boolean {
  if (isQuestionOfAnswerBefore(inputs, turn, index)) return false
  if (inputs.findQuestionLineOfTurn(turn) !== '') return true
  return inputs.scoreText(turn, index) === 0 || !inputs.hasOutputOfTurnBefore(turn, index)
}

function isQuestionOnlyBefore(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  index: number,
): boolean {
  if (lacksQuestionBefore(inputs, turn, index)) return false
  // The user does not see an answer without text and may send another message. If the turn's new
  // user messages lack the last one before the segment, the segment belongs to another turn.
  const lastUserMessage = inputs.segments[index]?.lastUserMessage ?? null
  if (lastUserMessage !== null && !mayAnswerLastQuestion(turn.input, lastUserMessage)) return false
  return !inputs.segments.some(
    (_, other) => other !== index && inputs.isQuestionOfTurnBefore(turn, other),
  )
}

/**
 * True if the turn certainly comes from another branch of the conversation than the answer segment.
 * A neighbor's turn is certain if it is already assigned, or if the segment with its marker has
 * exactly its text. The turn is in another branch if it does not descend from the last certain turn
 * before the segment, or if the first certain turn after the segment does not descend from it.
 */
function isInOtherBranch(
  { ancestry, certainTurnBefore, certainTurnAfter }: MarkerScoreInputs,
  turn: RecordedTurn,
  index: number,
): boolean {
  const before = certainTurnBefore[index]?.turn
  const after = certainTurnAfter[index]?.turn
  return (
    (before !== undefined && isUnrelatedTurn(ancestry, turn, before)) ||
    (after !== undefined && isUnrelatedTurn(ancestry, after, turn))
  )
}

/**
 * True if `turn` descends from `other` and no user message is between them, i.e. both belong to the
 * same answer.
 */
function continuesTurn(ancestry: TurnAncestry, turn: RecordedTurn, other: RecordedTurn): boolean {
  if (turn.input.some(isUserMessage)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === other) return true
    if (ancestor.input.some(isUserMessage)) return false
  }
  return false
}

/**
 * True if `turn` certainly does not come after `other` in a conversation: all ancestors of `turn`
 * back to the start of the conversation are known, `other` is none of them, and no input of these
 * turns has an item that `other` generated.
 */
function isUnrelatedTurn(ancestry: TurnAncestry, turn: RecordedTurn, other: RecordedTurn): boolean {
  let oldestKnown = turn
  if (turn === other || hasOutputInInput(turn, other)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === other || hasOutputInInput(ancestor, other)) return false
    oldestKnown = ancestor
  }
  return oldestKnown.parent === null
}

/**
 * True if the input of the first turn contains an item that the second turn generated. The first
 * turn then comes after the second, even if its stored parent is unknown.
 */
function hasOutputInInput({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const modelItems = input.filter(isItemOfAnswer)
  return output.some((item) => modelItems.some((modelItem) => hasSameContent(item, modelItem)))
}
