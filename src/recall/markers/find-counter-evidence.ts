/**
 * Finds reasons not to trust a marker whose turn has other text than the segment: the turn answers
 * another question, the segment's text cannot be an edit of its text, or another turn fits better.
 */
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { hasSameContent } from '../compare-items.ts'
import { includesLastQuestion } from '../matching/compare-questions.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import {
  QUESTION_RANK,
  isQuestionAt,
  rankTurnAt,
  type MarkerContext,
} from './marker-score-inputs.ts'
import { CONTAINED_MATCH } from './text-match-score.ts'

/**
 * True if a marker must not be trusted although the segment's text may be an edit of the turn's text
 * (`isTextAbsentAt` is false).
 */
export function isContradicted(context: MarkerContext, turn: RecordedTurn, index: number): boolean {
  const [textScore, rank] = [context.scoreText(turn, index), rankTurnAt(context, turn, index)]
  const containsText = textScore >= CONTAINED_MATCH
  // A turn without text is recognized by its question only.
  if (context.textMatcher.getTurnText(turn) === '' && !hasQuestionOnlyAt(context, turn, index))
    return true
  if (!containsText && isInOtherBranch(context, turn, index)) return true
  return hasRivalTurn(context, turn, index, (other) => {
    const otherRank = rankTurnAt(context, other, index)
    return (
      otherRank > rank ||
      (!containsText &&
        otherRank === rank &&
        context.turnsWithoutText.has(other) &&
        context.scoreText(other, index) > 0)
    )
  })
}

/**
 * True if another turn that `isRival` accepts may belong to the segment instead of this turn. Turns
 * of the same answer are no rivals.
 */
function hasRivalTurn(
  context: MarkerContext,
  turn: RecordedTurn,
  index: number,
  isRival: (other: RecordedTurn) => boolean,
): boolean {
  const { ancestry, allAttachedTurns } = context
  // If both turns are in another branch than the segment, the branch does not decide between them.
  const isTurnInOtherBranch = isInOtherBranch(context, turn, index)
  return ancestry.allTurns.some(
    (other) =>
      other !== turn &&
      !allAttachedTurns.has(other) &&
      isRival(other) &&
      !continuesTurn(ancestry, turn, other) &&
      !continuesTurn(ancestry, other, turn) &&
      (isTurnInOtherBranch || !isInOtherBranch(context, other, index)),
  )
}

/** True if the turn has text, and no part of the segment's text can be an edit of it. */
export function isTextAbsentAt(context: MarkerContext, turn: RecordedTurn, index: number): boolean {
  const { textMatcher, unexplainedChars } = context
  if (textMatcher.getTurnText(turn) === '' || context.scoreText(turn, index) >= CONTAINED_MATCH)
    return false
  if (
    lacksQuestionAt(context, turn, index) ||
    (textMatcher.getSegmentText(index) !== '' && unexplainedChars[index] === 0)
  )
    return true
  return hasRivalTurn(
    context,
    turn,
    index,
    (other) =>
      textMatcher.getTurnText(other) !== '' &&
      rankTurnAt(context, other, index) >= QUESTION_RANK + CONTAINED_MATCH,
  )
}

/**
 * True if neither the question nor the tool outputs connect the turn with the segment. Without such
 * a connection, edited text cannot be recognized.
 */
function lacksQuestionAt(context: MarkerContext, turn: RecordedTurn, index: number): boolean {
  const { questionLocator } = context
  if (isQuestionAt(context, turn, index)) return false
  const isQuestionKnown = questionLocator.findTurnQuestion(turn) !== ''
  return (
    isQuestionKnown ||
    context.scoreText(turn, index) === 0 ||
    !questionLocator.hasOutputsAt(turn, index)
  )
}

function hasQuestionOnlyAt(context: MarkerContext, turn: RecordedTurn, index: number): boolean {
  if (lacksQuestionAt(context, turn, index)) return false
  // The user does not see a turn without text and may ask again. The segment's last user message is
  // then not in the turn's input.
  const lastUserMessage = context.segments[index]?.lastUserMessage ?? null
  if (lastUserMessage !== null && !includesLastQuestion(turn.input, lastUserMessage)) return false
  return !context.segments.some(
    (_, other) => other !== index && context.questionLocator.isAskedAt(turn, other),
  )
}

/**
 * True if the turn is in another branch of the conversation than the segment: the turn does not descend
 * from the certain turn before the segment, or the certain turn after the segment not from this turn.
 */
function isInOtherBranch(context: MarkerContext, turn: RecordedTurn, index: number): boolean {
  const { ancestry } = context
  const [certainBefore, certainAfter] = [
    context.certainBefore[index] ?? null,
    context.certainAfter[index] ?? null,
  ]
  if (certainBefore !== null && isUnrelatedTurn(ancestry, turn, certainBefore.turn)) return true
  return certainAfter !== null && isUnrelatedTurn(ancestry, certainAfter.turn, turn)
}

/** True if `turn` descends from `other` without a user message between them. */
function continuesTurn(ancestry: TurnAncestry, turn: RecordedTurn, other: RecordedTurn): boolean {
  if (turn.input.some(isUserMessage)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === other) return true
    if (ancestor.input.some(isUserMessage)) return false
  }
  return false
}

/**
 * True if `turn` certainly does not continue `other`: all its ancestors back to the start of the
 * conversation are known, and `other` is not among them or in their inputs.
 */
export function isUnrelatedTurn(
  ancestry: TurnAncestry,
  turn: RecordedTurn,
  other: RecordedTurn,
): boolean {
  let oldestKnown = turn
  if (turn === other || hasOutputInInput(turn, other)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === other || hasOutputInInput(ancestor, other)) return false
    oldestKnown = ancestor
  }
  return oldestKnown.parent === null
}

/** True if the input of the first turn contains an item of the second turn's output. */
function hasOutputInInput({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const modelItems = input.filter(isModelItem)
  return (
    modelItems.length > 0 &&
    output.some((item) => modelItems.some((modelItem) => hasSameContent(item, modelItem)))
  )
}
