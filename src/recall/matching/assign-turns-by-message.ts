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
    const { answers, isCertain } = message
    for (const { turn, index } of locateAnswers(state, message)) {
      const segment = state.segments[index]
      // The question is compared, too, because a filter of the client may have changed the list.
      if (segment === undefined || !mayAnswerOneOf(turn.input, segment.userMessages)) continue
      const hasSameText = () =>
        answers.length === 1 &&
        normalizeTurnText([turn]) === removeEmptyFences(segment.normalizedText)
      if (isCertain || hasSameText()) assignTurn(state, index, turn)
    }
  }
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
  let index = start
  let previousSegment = 0
  for (const { id, segment } of answers) {
    const turn = ancestry.findTurn(id)
    const callIds = new Set(turn === null ? [] : listClientCallIds(turn))
    const caller = segments
      .slice(start, end)
      .findIndex((candidate) => candidate.callIds.some((callId) => callIds.has(callId)))
    index = caller >= 0 ? start + caller : Math.min(index + segment - previousSegment, end - 1)
    previousSegment = segment
    if (turn !== null) located.push({ turn, index: Math.max(index, start) })
  }
  return located
}
