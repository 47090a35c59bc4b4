/**
 * Assigns stored turns to answer segments (consecutive model-made items in the client's list) by the client's ids of
 * its messages. Such an id is exact, whatever the user has edited in the message. Only the position of an answer within
 * the message is found by its calls, or counted: the user may have deleted calls, so that several segments became one.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { mayAnswerOneOf } from './compare-questions.ts'
import type { LocatedMessage } from '../located-message.ts'
import { listClientCallIds } from './list-client-call-ids.ts'
import { assignTurn, type MatchState } from './match-state.ts'

export function assignTurnsByMessage(state: MatchState, messages: readonly LocatedMessage[]): void {
  for (const message of messages) {
    const located = locateAnswers(state, message)
    if (!located.every((turn) => isOfSameQuestion(state, turn))) continue
    const { answers, isCertain } = message
    for (const { turn, index } of located) {
      const { normalizedText = '' } = state.segments[index] ?? {}
      const hasSameText = () =>
        answers.length === 1 && normalizeTurnText([turn]) === removeEmptyFences(normalizedText)
      if (isCertain || hasSameText()) assignTurn(state, index, turn)
    }
  }
}

/**
 * False if the turn answers another question than that before the segment, because the client's list has another message
 * here than its ids say. None of the message's turns is then assigned: those after tool outputs have no question.
 */
function isOfSameQuestion({ segments }: MatchState, { turn, index }: LocatedTurn): boolean {
  return mayAnswerOneOf(turn.input, segments[index]?.userMessages ?? [])
}

interface LocatedTurn {
  readonly turn: RecordedTurn
  /** The index of the answer segment. */
  readonly index: number
}

function locateAnswers(
  { segments, ancestry }: MatchState,
  { start, end, answers }: LocatedMessage,
): readonly LocatedTurn[] {
  if (start === end) return []
  const located: LocatedTurn[] = []
  /** The first segment of the message with each call id. */
  const callers = new Map<string, number>()
  for (let position = end - 1; position >= start; position -= 1)
    for (const callId of segments[position]?.callIds ?? []) callers.set(callId, position)
  let index = start
  let previousSegment = 0
  for (const { id, segment } of answers) {
    const turn = ancestry.findTurn(id)
    const callIds = turn === null ? [] : listClientCallIds(turn)
    const [caller] = callIds
      .flatMap((callId) => callers.get(callId) ?? [])
      .toSorted((one, other) => one - other)
    index = caller ?? Math.min(index + segment - previousSegment, end - 1)
    previousSegment = segment
    if (turn !== null) located.push({ turn, index: Math.max(index, start) })
  }
  return located
}
