/**
 * Adds an empty segment at the end of each message whose last turns have nothing to show, e.g. a web search without text.
 * Without a segment, the items of such turns could not be restored. There is none for turns with text or calls that the
 * client does not show: it has lost these, e.g. after an error.
 */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { LocatedMessage } from '../located-message.ts'
import { listClientCallIds } from './list-client-call-ids.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText } from '../text/normalize-text.ts'

/** Returns the same list if there is no such message. */
export function addSilentSegments(
  items: readonly Item[],
  segments: readonly Segment[],
  messages: readonly LocatedMessage[],
  turns: readonly RecordedTurn[],
): readonly Segment[] {
  const turnById = new Map(turns.map((turn) => [turn.id, turn]))
  const isSilentTurn = (id: string): boolean => {
    const turn = turnById.get(id)
    return (
      turn !== undefined && normalizeTurnText([turn]) === '' && listClientCallIds(turn).length === 0
    )
  }
  const isSilentAtEnd = ({ start, end, isCertain, answers }: LocatedMessage): boolean => {
    const unshown = answers.filter(({ segment }) => segment >= end - start)
    return isCertain && unshown.length > 0 && unshown.every(({ id }) => isSilentTurn(id))
  }
  const added = messages
    .filter(isSilentAtEnd)
    .map((message) => createEmptySegment(items, segments, message))
  return added.length === 0
    ? segments
    : [...segments, ...added].toSorted((one, other) => one.start - other.start)
}

/** Creates a segment at the end of a message, in place of the empty assistant message that a client may send there. */
function createEmptySegment(
  items: readonly Item[],
  segments: readonly Segment[],
  { start, end, from, to }: LocatedMessage,
): Segment {
  let position = to
  while (position > from && isEmpty(items[position - 1])) position -= 1
  const previous = start < end ? segments[end - 1] : undefined
  const lastUserMessage = items.slice(0, position).findLast(isUserMessage) ?? null
  return {
    start: position,
    end: to,
    userMessages: previous?.userMessages ?? (lastUserMessage === null ? [] : [lastUserMessage]),
    lastUserMessage,
    nextUserMessage: items.slice(to).find(isUserMessage) ?? null,
    toolOutputs: items.slice(previous?.end ?? from, position),
    normalizedText: '',
    markerTurnIds: [],
    callIds: [],
    fingerprint: null,
  }
}

function isEmpty(item: Item | undefined): boolean {
  return item !== undefined && isEmptyAssistantMessage(item)
}
