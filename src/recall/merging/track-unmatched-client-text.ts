/**
 * The words of a client that are not those of a recorded message, and when they are told while the turns
 * of their run are: each once, in the order that the client has them in. Between two recorded messages there
 * may be turns that say nothing; a word stands on that side of such a turn on which it is of its marker.
 */
import type { Message } from '../../core/item.ts'
import type { TextAlignment } from '../text/align-edited-text.ts'

export interface UnmatchedClientText {
  /** What the client has in front of the marker of this turn, when so many messages have been told. */
  readonly beforeTurn: (turn: number, messages: number) => readonly Message[]
  readonly beforeMessage: (number: number) => readonly Message[]
  /** `turn` is that of the message. What stands behind a later turn is not told yet. */
  readonly behindMessage: (number: number, turn: number) => readonly Message[]
  /** All that is behind the last message. */
  readonly rest: () => readonly Message[]
}

/** `messages` are so many as were recorded, `behind` is that of `ClientSegmentText`. */
export function trackUnmatchedClientText(
  aligned: Pick<TextAlignment, 'before' | 'behind'> | null,
  messages: number,
  behind: readonly number[],
): UnmatchedClientText {
  if (aligned === null) return NONE
  const { before, behind: after } = aligned
  /** For each message what is left of the words in front of it, and at the end those behind the last. */
  const gaps = Array.from({ length: messages + 1 }, (_, at) => [
    ...(after.get(at - 1) ?? []).map((words) => ({ ...words, isBehind: true })),
    ...(before.get(at) ?? []).map((words) => ({ ...words, isBehind: false })),
  ])
  type Word = (typeof gaps)[number][number]
  const take = (gap: number, isDue: (word: Word) => boolean): readonly Message[] => {
    const words = gaps[gap] ?? []
    const end = words.findIndex((word) => !isDue(word))
    return words.splice(0, end < 0 ? words.length : end).map(({ message }) => message)
  }
  const turnOf = ({ from }: Word): number => behind[from] ?? -1
  return {
    beforeTurn: (turn, told) => take(told, (word) => turnOf(word) < turn),
    beforeMessage: (number) => take(number, () => true),
    behindMessage: (number, turn) =>
      take(number + 1, (word) => word.isBehind && turnOf(word) <= turn),
    rest: () => take(messages, () => true),
  }
}

const nothing = (): readonly Message[] => []
const NONE: UnmatchedClientText = {
  beforeTurn: nothing,
  beforeMessage: nothing,
  behindMessage: nothing,
  rest: nothing,
}
