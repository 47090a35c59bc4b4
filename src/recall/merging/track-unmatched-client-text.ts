/**
 * Tracks client text that belongs to no recorded message, until it is inserted between the items of
 * the replayed turns: each text once, in the client's order. A silent turn (a turn without text) may
 * lie between two messages: text before its marker is inserted before the turn, later text after it.
 */
import type { Message } from '../../core/item.ts'
import type { ClientText, TextAlignment } from '../text/align-edited-text.ts'

export interface UnmatchedClientText {
  /**
   * Removes and returns the client's text between the first `messageCount` recorded messages and the
   * marker of a turn without text; `turn` is the index of that turn.
   */
  readonly takeBeforeTurn: (turn: number, messageCount: number) => readonly Message[]
  readonly takeBeforeMessage: (messageIndex: number) => readonly Message[]
  /** Removes and returns the text after a message of a turn; text after a later turn's marker stays. */
  readonly takeAfterMessage: (messageIndex: number, turn: number) => readonly Message[]
  /** Removes and returns all text after the last message. */
  readonly takeRemaining: () => readonly Message[]
}

/**
 * Returns the tracker of a segment. `messageCount` is the number of recorded messages;
 * `silentTurnBefore` has, per client message, the last silent turn before it (-1 if none).
 */
export function trackUnmatchedText(
  alignment: Pick<TextAlignment, 'textBefore' | 'textAfter'> | null,
  messageCount: number,
  silentTurnBefore: readonly number[],
): UnmatchedClientText {
  const toEntries = (texts: readonly ClientText[] = [], isAfterMessage = false) =>
    texts.map((text) => ({ ...text, isAfterMessage }))
  // Entry i is the remaining text before recorded message i; the last entry follows all messages.
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
