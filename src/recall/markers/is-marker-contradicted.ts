/**
 * Finds reasons not to trust a marker (hidden text in an answer that names a stored turn). They are
 * needed if the turn's text differs from the answer's text in the client's list. Reasons are: the
 * turn answers another question, the answer cannot be an edit of the turn's text, or another turn
 * fits the answer better.
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
 * True if the marker's turn probably does not belong to this answer segment (consecutive model-made
 * items in the client's list). Called only if the segment has other text than the turn, and
 * `isTurnTextAbsent` is false.
 */
export function isMarkerContradicted(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
): boolean {
  const rank = rankTurnInSegment(inputs, turn, segmentIndex)
  const containsText = inputs.scoreText(turn, segmentIndex) >= CONTAINED_MATCH
  // If the turn has no text, only its question can show that it belongs here.
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
 * True if another turn may belong to the answer segment instead of this turn, and `isRival` returns
 * true for it. Turns of the same answer are not rivals.
 */
function hasRivalTurn(
  inputs: MarkerScoreInputs,
  turn: RecordedTurn,
  segmentIndex: number,
  isRival: (other: RecordedTurn) => boolean,
): boolean {
  const { ancestry, allAssignedTurns } = inputs
  // Turns in other branches of the conversation than the segment are no rivals, unless this turn is
  // in another branch itself.
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

/** True if the turn has text, but no part of the answer segment's text can be an edit of it. */
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
 * True if the turn's question is known and does not come before the answer segment. If the question
 * is unknown, true unless the turn's tool outputs come before the segment and the segment has a
 * part of the turn's text. Without such a connection, the gateway cannot recognize edited text.
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
  // The user does not see an answer without text and may ask again. If the last user message is not
  // in the turn's input, the segment therefore belongs to another turn.
  const lastUserMessage = inputs.segments[index]?.lastUserMessage ?? null
  if (lastUserMessage !== null && !mayAnswerLastQuestion(turn.input, lastUserMessage)) return false
  return !inputs.segments.some(
    (_, other) => other !== index && inputs.isQuestionOfTurnBefore(turn, other),
  )
}

/**
 * True if the turn and the answer segment are certainly in different branches of the conversation.
 * A certain turn is one that is assigned, or has exactly the text around its marker. The branches
 * differ if the turn is unrelated to the last certain turn before the segment, or the next certain
 * turn is unrelated to this turn.
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
 * True if `turn` certainly does not continue `other`: all ancestors of `turn` back to the start of
 * the conversation are known, `other` is none of them, and no input of these turns has an item that
 * `other` generated.
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

/** True if the input of the first turn contains an item that the second turn generated. */
function hasOutputInInput({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const modelItems = input.filter(isItemOfAnswer)
  return output.some((item) => modelItems.some((modelItem) => hasSameContent(item, modelItem)))
}
