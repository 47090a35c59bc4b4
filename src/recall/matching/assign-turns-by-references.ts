/**
 * Assigns stored turns to answer segments (consecutive model-made items in the client's list) by
 * references, i.e. markers in their text and other ids of turns. A user may move and copy a marker,
 * and edit the text beside it, so a reference alone proves nothing:
 *
 * - It must stand in one segment only, and the turns that a segment names must follow one another
 *   in one answer.
 * - The segment must have all text of these turns, and the turns must stand in their recorded order
 *   in the list (`assignTurnsByText`).
 * - If the text was edited, or if there is none, the turns must be the only ones that were asked
 *   there: after the same turn, and with the same question or tool outputs
 *   (`assignTurnsByPosition`). The turns before must be certain, so turns whose text occurs twice
 *   are assigned last.
 *
 * Otherwise, the segment gets no turn, and its turns are `doubtedTurns`.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { removeEmptyFences } from '../text/normalize-text.ts'
import { hasIdenticalToolOutputs, hasNewQuestion } from './classify-turn-input.ts'
import { answersNextQuestion, mayAnswerLastQuestion } from './compare-questions.ts'
import {
  type MatchState,
  assignTurn,
  findMarkedTurns,
  hasFingerprintOfOtherSegment,
} from './match-state.ts'

/** The turns that the references in an answer segment name, in their order; at least one. */
interface NamedTurns {
  readonly index: number
  readonly segment: Segment
  readonly turns: readonly [RecordedTurn, ...RecordedTurn[]]
}

/**
 * Assigns the turns whose complete text is in the segment with their references: with
 * `isTextUnique`, only if no other segment has it, else only if the segment has no other text.
 */
export function assignTurnsByText(state: MatchState, isTextUnique: boolean): void {
  const named = findTurnsWithText(state, isTextUnique)
  const placed = state.turnsBySegment.map((turns, index) => ({ index, turns }))
  const segmentByTurn = new Map(
    [...placed, ...named].flatMap(({ index, turns }) =>
      turns.map((turn) => [turn, index] as const),
    ),
  )
  const misplacedTurns = findMisplacedTurns(state, segmentByTurn)
  for (const { index, turns } of named)
    if (!turns.some((turn) => misplacedTurns.has(turn)))
      for (const turn of turns) assignTurn(state, index, turn)
}

/**
 * Assigns the turns whose text was edited, or that have none, to the segments that can only be
 * theirs.
 */
export function assignTurnsByPosition(state: MatchState): void {
  for (const named of listNamedTurns(state).slice(-MAX_SEARCHES))
    if (isOnlyTurnAskedThere(state, named))
      for (const turn of named.turns) assignTurn(state, named.index, turn)
}

/** Adds the turns that references in segments without turns name to `doubtedTurns`. */
export function collectDoubtedTurns(state: MatchState): void {
  for (const [index, segment] of state.segments.entries())
    if (state.turnsBySegment[index]?.length === 0 && !state.ambiguousSegments.has(index))
      for (const turn of findMarkedTurns(segment, state.ancestry))
        if (!hasFingerprintOfOtherSegment(state, turn, index)) state.doubtedTurns.add(turn)
}

/**
 * Lists the segments without turns whose references name turns. Leaves out turns that belong to
 * another segment by their fingerprint, and those that are named in several segments.
 */
function listNamedTurns(state: MatchState): readonly NamedTurns[] {
  const { segments, ancestry, turnsBySegment, ambiguousSegments, assignedTurns } = state
  const namedTurns = segments.map((segment) => findMarkedTurns(segment, ancestry))
  const counts = new Map<RecordedTurn, number>()
  for (const turn of namedTurns.flat()) counts.set(turn, (counts.get(turn) ?? 0) + 1)
  return segments.flatMap((segment, index) => {
    if (turnsBySegment[index]?.length !== 0 || ambiguousSegments.has(index)) return []
    const [first, ...others] = (namedTurns[index] ?? []).filter(
      (turn) =>
        counts.get(turn) === 1 &&
        !assignedTurns.has(turn) &&
        !hasFingerprintOfOtherSegment(state, turn, index),
    )
    return first === undefined ? [] : [{ index, segment, turns: [first, ...others] }]
  })
}

function findTurnsWithText(state: MatchState, isTextUnique: boolean): readonly NamedTurns[] {
  const { segments, turnsBySegment, getTurnText } = state
  const openTexts = segments.flatMap(({ normalizedText }, index) =>
    turnsBySegment[index]?.length === 0 ? [removeEmptyFences(normalizedText)] : [],
  )
  const textCounts = new Map<string, number>()
  for (const text of openTexts) textCounts.set(text, (textCounts.get(text) ?? 0) + 1)
  let remainingSearches = MAX_SEARCHES
  return listNamedTurns(state).filter(({ segment, turns }) => {
    const texts = turns.map(getTurnText)
    const text = texts.join('')
    const segmentText = removeEmptyFences(segment.normalizedText)
    if (text === '' || !mayBeOneAnswer(state, turns)) return false
    if (text === segmentText) return !isTextUnique || textCounts.get(text) === 1
    if (!isTextUnique || !containsInOrder(segmentText, texts) || remainingSearches === 0)
      return false
    remainingSearches -= 1
    return openTexts.filter((other) => containsInOrder(other, texts)).length === 1
  })
}

/**
 * Max number of segments for which all other segments are searched: those with more text than the
 * turns that they name, and the last ones with edited text. Any further ones get no turn this way.
 */
const MAX_SEARCHES = 200

function containsInOrder(text: string, parts: readonly string[]): boolean {
  let position = 0
  for (const part of parts) {
    const start = text.indexOf(part, position)
    if (start < 0) return false
    position = start + part.length
  }
  return true
}

/**
 * True if each of the turns may come after the one before it in the same answer. If a turn between
 * two of them was not loaded, this is unknown, and both must have text, by which they are
 * recognized.
 */
function mayBeOneAnswer(
  { ancestry, getTurnText }: MatchState,
  turns: readonly RecordedTurn[],
): boolean {
  return turns.every((turn, position) => {
    const earlier = turns[position - 1]
    if (earlier === undefined || continuesTurn(turn, earlier, ancestry)) return true
    if (turn.thread !== earlier.thread || turn.depth <= earlier.depth) return false
    let oldestKnown = turn
    for (const ancestor of ancestry.listAncestors(turn)) {
      if (ancestor === earlier) return false
      oldestKnown = ancestor
    }
    return oldestKnown.parent !== null && getTurnText(turn) !== '' && getTurnText(earlier) !== ''
  })
}

/** True if `turn` descends from `earlier`, and no new question is between them. */
function continuesTurn(turn: RecordedTurn, earlier: RecordedTurn, ancestry: TurnAncestry): boolean {
  if (hasNewQuestion(turn)) return false
  for (const ancestor of ancestry.listAncestors(turn)) {
    if (ancestor === earlier) return true
    if (hasNewQuestion(ancestor)) return false
  }
  return false
}

/**
 * Returns the turns whose order in the client's list contradicts their stored order, because
 * references were moved: a turn that comes before its nearest known ancestor, or that continues the
 * answer of this ancestor in another round. Both turns are returned.
 */
function findMisplacedTurns(
  { ancestry, segments }: MatchState,
  segmentByTurn: ReadonlyMap<RecordedTurn, number>,
): ReadonlySet<RecordedTurn> {
  const misplacedTurns = new Set<RecordedTurn>()
  for (const [turn, index] of segmentByTurn) {
    let isNewRound = turn.input.some(isUserMessage)
    for (const ancestor of ancestry.listAncestors(turn)) {
      const ancestorIndex = segmentByTurn.get(ancestor)
      if (ancestorIndex === undefined) {
        isNewRound ||= ancestor.input.some(isUserMessage)
        continue
      }
      const isSameRound = segments[ancestorIndex]?.userMessages === segments[index]?.userMessages
      if (ancestorIndex > index || (!isNewRound && !isSameRound))
        misplacedTurns.add(turn).add(ancestor)
      break
    }
  }
  return misplacedTurns
}

/**
 * True if only the named turns can be the answer in the segment: their parent is the last turn
 * before the segment, the client has the new question or tool outputs of their input directly
 * before it, and neither another segment nor another turn fits as well.
 */
function isOnlyTurnAskedThere(state: MatchState, { index, segment, turns }: NamedTurns): boolean {
  const { segments, turnsBySegment, ancestry, assignedTurns, getTurnText } = state
  const isOneAnswer = turns.every((turn, position) => {
    const earlier = turns[position - 1]
    return earlier === undefined || continuesTurn(turn, earlier, ancestry)
  })
  if (!isOneAnswer) return false
  // Answers between the two segments may be unknown, because not all answers are stored.
  const previousIndex = turnsBySegment.findLastIndex(
    (assigned, position) => position < index && assigned.length > 0,
  )
  const previousTurns = turnsBySegment[previousIndex] ?? []
  const follows = ({ parent }: RecordedTurn): boolean =>
    parent === null ? index === 0 : previousTurns.some(({ id }) => id === parent)
  const first = findFirstTurnAfter(turns[0], follows, ancestry.findParent)
  if (first === null || !isAskedBefore(first, segment, segments[previousIndex])) return false
  const isOtherSegmentPossible = segments.some(
    (other, position) =>
      position > previousIndex &&
      position !== index &&
      turnsBySegment[position]?.length === 0 &&
      isAskedBefore(first, other, segments[previousIndex]),
  )
  if (isOtherSegmentPossible) return false
  const rivals = ancestry.allTurns.filter(
    (turn) =>
      turn.parent === first.parent &&
      turn !== first &&
      !turns.includes(turn) &&
      !assignedTurns.has(turn) &&
      isAskedBefore(turn, segment, segments[previousIndex]),
  )
  const hasSameBeginning = (turn: RecordedTurn): boolean => {
    const text = getTurnText(turn)
    const segmentText = removeEmptyFences(segment.normalizedText)
    if (segmentText === '') return text === ''
    return segmentText.startsWith(text) || text.startsWith(segmentText)
  }
  return rivals.length === 0 || (hasSameBeginning(first) && !rivals.some(hasSameBeginning))
}

/** Returns the turn, or its ancestor in the same answer, that directly follows the known turns. */
function findFirstTurnAfter(
  turn: RecordedTurn,
  follows: (turn: RecordedTurn) => boolean,
  findParent: (turn: RecordedTurn) => RecordedTurn | null,
): RecordedTurn | null {
  const visited = new Set<RecordedTurn>()
  for (let first: RecordedTurn | null = turn; first !== null; first = findParent(first)) {
    if (follows(first)) return first
    // The search ends if the stored parents form a circle, because the stored data is damaged.
    if (hasNewQuestion(first) || visited.has(first)) return null
    visited.add(first)
  }
  return null
}

/**
 * True if the new items in the turn's input stand directly before the segment: a question, or the
 * tool outputs after the previous segment of the same round.
 */
function isAskedBefore(
  turn: RecordedTurn,
  segment: Segment,
  previous: Segment | undefined,
): boolean {
  if (hasNewQuestion(turn))
    return (
      segment.lastUserMessage !== null &&
      mayAnswerLastQuestion(turn.input, segment.lastUserMessage) &&
      !answersNextQuestion(turn.input, segment)
    )
  return (
    previous?.userMessages === segment.userMessages &&
    !turn.input.some(isUserMessage) &&
    hasIdenticalToolOutputs(turn, segment)
  )
}
