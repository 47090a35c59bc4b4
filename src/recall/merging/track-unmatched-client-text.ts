/**
 * Tracks the client's text that belongs to no recorded message until it is added between recorded
 * items. Each text is added once, in the client's order. If a stored turn without text comes
 * between two texts, the text before its marker is added before the turn, the text after its marker
 * after the turn.
 */
import type { Message } from '../../core/item.ts'
import type { ClientTextPiece, TextAlignment } from '../text/align-edited-text.ts'

export interface UnmatchedClientText {
  /**
   * Removes and returns the texts that come after the first `messageCount` recorded messages and
   * before the marker of the turn with index `turnIndex`.
   */
  readonly takeBeforeTurn: (turnIndex: number, messageCount: number) => readonly Message[]
  readonly takeBeforeMessage: (messageIndex: number) => readonly Message[]
  /**
   * Removes and returns the texts directly after the recorded message with index `messageIndex`,
   * which belongs to the turn with index `turnIndex`. Text after the marker of a later turn stays.
   */
  readonly takeAfterMessage: (messageIndex: number, turnIndex: number) => readonly Message[]
  /** Removes and returns the texts that remain after the last recorded message. */
  readonly takeRemaining: () => readonly Message[]
}

/**
 * Returns the tracker for one answer segment (consecutive model-made items in the client's list).
 * `textlessTurnBefore` has one entry per client message: the index of the last turn without text
 * whose marker comes before the message, or -1.
 */
export function trackUnmatchedClientText(
  alignment: Pick<TextAlignment, 'textBefore' | 'textAfter'> | null,
  messageCount: number,
  textlessTurnBefore: readonly number[],
): UnmatchedClientText {
  const toEntries = (texts: readonly ClientTextPiece[] = [], isAfterMessage = false) =>
    texts.map((text) => ({ ...text, isAfterMessage }))
  // `gaps[2]` has the client's texts between the recorded messages 1 and 2, counted from 0; the
  // last entry has those after all recorded messages.
  const gaps = Array.from({ length: messageCount + 1 }, (_, index) => [
    ...toEntries(alignment?.textAfter.get(index - 1), true),
    ...toEntries(alignment?.textBefore.get(index)),
  ])
  type TextEntry = (typeof gaps)[number][number]
  const take = (gapIndex: number, canTake: (entry: TextEntry) => boolean): readonly Message[] => {
    const clientText = gaps[gapIndex] ?? []
    const end = clientText.findIndex((entry) => !canTake(entry))
    return clientText.splice(0, end < 0 ? clientText.length : end).map(({ piece }) => piece)
  }
  const getTurnBefore = ({ clientMessageIndex }: TextEntry): number =>
    textlessTurnBefore[clientMessageIndex] ?? -1
  return {
    takeBeforeTurn: (turnIndex, messageCount) =>
      take(messageCount, (entry) => getTurnBefore(entry) < turnIndex),
    takeBeforeMessage: (messageIndex) => take(messageIndex, () => true),
    takeAfterMessage: (messageIndex, turnIndex) =>
      take(messageIndex + 1, (entry) => entry.isAfterMessage && getTurnBefore(entry) <= turnIndex),
    takeRemaining: () => take(messageCount, () => true),
  }
}
