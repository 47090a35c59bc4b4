/**
 * The words of a client that are not those of a recorded message, and when they are told while the turns
 * of their run are: each once, in the order that the client has them in. Between two recorded messages there
 * may be turns that say nothing; a word stands on that side of such a turn on which it is of its marker.
 */
import type { Message } from '../../core/item.ts'
import type { TextAlignment } from '../text/align-edited-text.ts'

export interface UnmatchedClientText {
  /** What the client has in front of the marker of this turn, when so many messages have been told. */
  readonly takeBeforeTurn: (turn: number, messageCount: number) => readonly Message[]
  readonly takeBeforeMessage: (messageIndex: number) => readonly Message[]
  /** `turn` is that of the message. What stands behind a later turn is not told yet. */
  readonly takeAfterMessage: (messageIndex: number, turn: number) => readonly Message[]
  /** All that is behind the last message. */
  readonly takeRemaining: () => readonly Message[]
}

/** `messages` are so many as were recorded, `behind` is that of `ClientSegmentText`. */
export function trackUnmatchedClientText(
  alignment: Pick<TextAlignment, 'textBefore' | 'textAfter'> | null,
  messageCount: number,
  silentTurnBefore: readonly number[],
): UnmatchedClientText {
  if (alignment === null) return NO_UNMATCHED_TEXT
  const { textBefore, textAfter } = alignment
  /** For each message what is left of the words in front of it, and at the end those behind the last. */
  const gaps = Array.from({ length: messageCount + 1 }, (_, index) => [
    ...(textAfter.get(index - 1) ?? []).map((clientText) => ({
      ...clientText,
      isAfterMessage: true,
    })),
    ...(textBefore.get(index) ?? []).map((clientText) => ({
      ...clientText,
      isAfterMessage: false,
    })),
  ])
  type TextEntry = (typeof gaps)[number][number]
  const take = (gapIndex: number, canTake: (entry: TextEntry) => boolean): readonly Message[] => {
    const clientText = gaps[gapIndex] ?? []
    const end = clientText.findIndex((entry) => !canTake(entry))
    return clientText.splice(0, end < 0 ? clientText.length : end).map(({ message }) => message)
  }
  const getTurnBefore = ({ messageIndex }: TextEntry): number =>
    silentTurnBefore[messageIndex] ?? -1
  return {
    takeBeforeTurn: (turn, messageCount) =>
      take(messageCount, (entry) => getTurnBefore(entry) < turn),
    takeBeforeMessage: (messageIndex) => take(messageIndex, () => true),
    takeAfterMessage: (messageIndex, turn) =>
      take(messageIndex + 1, (entry) => entry.isAfterMessage && getTurnBefore(entry) <= turn),
    takeRemaining: () => take(messageCount, () => true),
  }
}

const takeNothing = (): readonly Message[] => []
const NO_UNMATCHED_TEXT: UnmatchedClientText = {
  takeBeforeTurn: takeNothing,
  takeBeforeMessage: takeNothing,
  takeAfterMessage: takeNothing,
  takeRemaining: takeNothing,
}
