/**
 * Tracks the client text that belongs to no recorded message, and decides when it is inserted while
 * turns are replayed: each text once, in the client's order. Turns without text may lie between two
 * recorded messages; text stays on the side of such a turn on which it is relative to the turn's
 * marker.
 */
import type { Message } from '../../core/item.ts'
import type { ClientText, TextAlignment } from '../text/align-edited-text.ts'

export interface UnmatchedClientText {
  /** Takes the text before this turn's marker, after `messageCount` recorded messages. */
  readonly takeBeforeTurn: (turn: number, messageCount: number) => readonly Message[]
  readonly takeBeforeMessage: (messageIndex: number) => readonly Message[]
  /** Takes the text after a message of this turn; text after a later turn's marker stays. */
  readonly takeAfterMessage: (messageIndex: number, turn: number) => readonly Message[]
  /** Takes all text after the last message. */
  readonly takeRemaining: () => readonly Message[]
}

/**
 * `messageCount` is the number of recorded messages; `silentTurnBefore` comes from
 * `ClientSegmentText`.
 */
export function trackUnmatchedText(
  alignment: Pick<TextAlignment, 'textBefore' | 'textAfter'> | null,
  messageCount: number,
  silentTurnBefore: readonly number[],
): UnmatchedClientText {
  const toEntries = (texts: readonly ClientText[] = [], isAfterMessage = false) =>
    texts.map((text) => ({ ...text, isAfterMessage }))
  // Per recorded message, the remaining text before it; the last entry is after the last message.
  const gaps = Array.from({ length: messageCount + 1 }, (_, index) => [
    ...toEntries(alignment?.textAfter.get(index - 1), true),
    ...toEntries(alignment?.textBefore.get(index)),
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
