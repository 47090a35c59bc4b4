/**
 * What speaks against a turn where its marker stands and its words do not quite: that it was not asked
 * there, that what it has said cannot be what is there, or that another turn is likelier.
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
  type MarkerScoringContext,
} from './marker-score-inputs.ts'
import { CONTAINED_MATCH } from './text-match-score.ts'

/** Where the words are not quite those of the turn, and may be what has become of them (`isTextAbsentAt`). */
export function hasCounterEvidence(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
  const [textScore, rank] = [context.scoreText(turn, index), rankTurnAt(context, turn, index)]
  const containsText = textScore >= CONTAINED_MATCH
  // Without words of its own it has but the question.
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

/** Whether a turn that may be here instead, and not with it, is such a one. */
function hasRivalTurn(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
  isRival: (other: RecordedTurn) => boolean,
): boolean {
  const { ancestry, allAttachedTurns } = context
  // What speaks against both speaks for neither.
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

/** Whether it has words, and nothing that is said there can be what has become of them. */
export function isTextAbsentAt(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
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

/** Of edited words only its question, or what its tools have said, can tell whose they are. */
function lacksQuestionAt(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
  const { questionLocator } = context
  if (isQuestionAt(context, turn, index)) return false
  const isQuestionKnown = questionLocator.findTurnQuestion(turn) !== ''
  return (
    isQuestionKnown ||
    context.scoreText(turn, index) === 0 ||
    !questionLocator.hasOutputsAt(turn, index)
  )
}

function hasQuestionOnlyAt(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
  if (lacksQuestionAt(context, turn, index)) return false
  // Who asks again was given nothing that he could see: that stands in front of what he asked then.
  const lastUserMessage = context.segments[index]?.lastUserMessage ?? null
  if (lastUserMessage !== null && !includesLastQuestion(turn.input, lastUserMessage)) return false
  return !context.segments.some(
    (_, other) => other !== index && context.questionLocator.isAskedAt(turn, other),
  )
}

/** Whether what is sure to stand before it, or behind it, is of another branch. */
function isInOtherBranch(
  context: MarkerScoringContext,
  turn: RecordedTurn,
  index: number,
): boolean {
  const { ancestry } = context
  const [certainBefore, certainAfter] = [
    context.certainBefore[index] ?? null,
    context.certainAfter[index] ?? null,
  ]
  if (certainBefore !== null && isUnrelatedTurn(ancestry, turn, certainBefore.turn)) return true
  return certainAfter !== null && isUnrelatedTurn(ancestry, certainAfter.turn, turn)
}

/** Whether a turn goes on from another without having been asked anything new. */
function continuesTurn(ancestry: TurnAncestry, turn: RecordedTurn, other: RecordedTurn): boolean {
  if (turn.input.some(isUserMessage)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === other) return true
    if (ancestor.input.some(isUserMessage)) return false
  }
  return false
}

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

/** Whether it was told anything that the other has made. */
function hasOutputInInput({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const modelItems = input.filter(isModelItem)
  return (
    modelItems.length > 0 &&
    output.some((item) => modelItems.some((modelItem) => hasSameContent(item, modelItem)))
  )
}
