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
  court: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
): boolean {
  const [fit, rank] = [court.fit(turn, at), rankTurnAt(court, turn, at)]
  const isWhole = fit >= CONTAINED_MATCH
  // Without words of its own it has but the question.
  if (court.words.wordsOf(turn) === '' && !isAskedOnlyAt(court, turn, at)) return true
  if (!isWhole && isOutOfPlace(court, turn, at)) return true
  return isAnyOther(court, turn, at, (other) => {
    const others = rankTurnAt(court, other, at)
    return (
      others > rank ||
      (!isWhole && others === rank && court.isLoose.has(other) && court.fit(other, at) > 0)
    )
  })
}

/** Whether a turn that may be here instead, and not with it, is such a one. */
function isAnyOther(
  court: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
  isSuch: (other: RecordedTurn) => boolean,
): boolean {
  const { kin, isPlaced } = court
  // What speaks against both speaks for neither.
  const isOut = isOutOfPlace(court, turn, at)
  return kin.all.some(
    (other) =>
      other !== turn &&
      !isPlaced.has(other) &&
      isSuch(other) &&
      !isWithin(kin, turn, other) &&
      !isWithin(kin, other, turn) &&
      (isOut || !isOutOfPlace(court, other, at)),
  )
}

/** Whether it has words, and nothing that is said there can be what has become of them. */
export function isTextAbsentAt(
  court: MarkerScoringContext,
  turn: RecordedTurn,
  at: number,
): boolean {
  const { words, left } = court
  if (words.wordsOf(turn) === '' || court.fit(turn, at) >= CONTAINED_MATCH) return false
  if (isUnaskedAt(court, turn, at) || (words.saidAt(at) !== '' && left[at] === 0)) return true
  return isAnyOther(
    court,
    turn,
    at,
    (other) =>
      words.wordsOf(other) !== '' &&
      rankTurnAt(court, other, at) >= QUESTION_RANK + CONTAINED_MATCH,
  )
}

/** Of edited words only its question, or what its tools have said, can tell whose they are. */
function isUnaskedAt(court: MarkerScoringContext, turn: RecordedTurn, at: number): boolean {
  const { asked } = court
  if (isQuestionAt(court, turn, at)) return false
  const isKnown = asked.questionOf(turn) !== ''
  return isKnown || court.fit(turn, at) === 0 || !asked.isGivenAt(turn, at)
}

function isAskedOnlyAt(court: MarkerScoringContext, turn: RecordedTurn, at: number): boolean {
  if (isUnaskedAt(court, turn, at)) return false
  // Who asks again was given nothing that he could see: that stands in front of what he asked then.
  const lastAsked = court.runs[at]?.lastAsked ?? null
  if (lastAsked !== null && !includesLastQuestion(turn.input, lastAsked)) return false
  return !court.runs.some((_, other) => other !== at && court.asked.isAskedAt(turn, other))
}

/** Whether what is sure to stand before it, or behind it, is of another branch. */
function isOutOfPlace(court: MarkerScoringContext, turn: RecordedTurn, at: number): boolean {
  const { kin } = court
  const [before, behind] = [court.before[at] ?? null, court.behind[at] ?? null]
  if (before !== null && isUnrelatedTurn(kin, turn, before.turn)) return true
  return behind !== null && isUnrelatedTurn(kin, behind.turn, turn)
}

/** Whether a turn goes on from another without having been asked anything new. */
function isWithin(kin: TurnAncestry, turn: RecordedTurn, other: RecordedTurn): boolean {
  if (turn.input.some(isUserMessage)) return false
  for (const ancestor of kin.ancestors(turn)) {
    if (ancestor === other) return true
    if (ancestor.input.some(isUserMessage)) return false
  }
  return false
}

export function isUnrelatedTurn(
  kin: TurnAncestry,
  turn: RecordedTurn,
  other: RecordedTurn,
): boolean {
  let first = turn
  if (turn === other || isToldIn(turn, other)) return false
  for (const ancestor of kin.ancestors(turn)) {
    if (ancestor === other || isToldIn(ancestor, other)) return false
    first = ancestor
  }
  return first.parent === null
}

/** Whether it was told anything that the other has made. */
function isToldIn({ input }: RecordedTurn, { output }: RecordedTurn): boolean {
  const told = input.filter(isModelItem)
  return told.length > 0 && output.some((item) => told.some((one) => hasSameContent(item, one)))
}
