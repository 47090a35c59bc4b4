/**
 * Inserts the marker, which names the stored turn, into a streamed answer: as a text delta of its own, and
 * into the text of the item. If the marker would be visible at every position, none is inserted, and recall
 * has to find the turn by its text. An answer without text or client calls gets a message with only the
 * marker.
 *
 * The end event of a message without a marker is delayed, because no text can be added to an item after its
 * end event. The end event is written before the next event, unless that event ends the answer. In this
 * case both are delayed until `end` is called. The turn is stored by then, so that the marker can be
 * appended to the message.
 */
import {
  isTerminalEvent,
  type ItemEnded,
  type StreamEvent,
  type TextDelta,
} from '../../../core/stream-event.ts'
import { formatMarkerLine } from '../../../core/markers/format-and-extract-markers.ts'
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import { createTextInsertions, type TextInsertions } from './insert-text-and-shift-annotations.ts'
import { trackOtherReference } from './track-other-reference.ts'
import { trackMarkerOnlyAnswer } from './track-marker-only-answer.ts'
import {
  trackMarkerPositions,
  type DeltaRange,
  type MarkerPositions,
} from './track-marker-positions.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'

export interface PendingMarker {
  readonly turnId: string
  /**
   * True once the turn is stored and has items that are worth replaying. The marker is written only after
   * that.
   */
  readonly isReady: () => boolean
}

export interface MarkerOptions {
  /** True if the client appends the answer to existing text, so that a blank line has to come first. */
  readonly beginsWithBreak?: boolean
  /**
   * Text that the answer continues. If a code fence is open at its end, for example, no marker is inserted
   * until the answer closes it.
   */
  readonly continuedText?: string
  /**
   * True if the marker is written only at the end of the answer, and only if nothing else names the turn: no call, which
   * the client sends back, and no reference beside visible reasoning.
   */
  readonly isOnlyAtEnd?: boolean
  /** True if the renderer writes a reference of the turn beside visible reasoning. */
  readonly isNamedBesideReasoning?: boolean
}

const BREAK = '\n\n'

export function createMarkerInserter(marker: PendingMarker, options: MarkerOptions = {}) {
  const { beginsWithBreak = false, continuedText = '', isOnlyAtEnd = false } = options
  const positions = trackMarkerPositions(continuedText + (beginsWithBreak ? BREAK : ''))
  const insertions = createTextInsertions()
  const markerOnlyAnswer = trackMarkerOnlyAnswer()
  const otherReference = trackOtherReference(options)
  const line = formatMarkerLine(marker.turnId) + BREAK
  const text = insertMarkerIntoText(marker, line, {
    positions,
    insertions,
    beginsWithBreak,
    isOnlyAtEnd,
  })
  let held: readonly StreamEvent[] = NO_OUTPUT

  const hold = (event: StreamEvent): readonly StreamEvent[] => {
    held = [...held, event]
    return NO_OUTPUT
  }
  const endItem = (event: ItemEnded): readonly StreamEvent[] | null => {
    const mayGetMarker =
      !text.isDone() && endsWithLastDelta(event, positions.getLastDelta()) && positions.canAppend()
    return mayGetMarker ? hold(event) : asListIfChanged(event, insertions.applyToItem(event))
  }
  const mayBeMarkerOnly = (): boolean =>
    markerOnlyAnswer.needsMarkerMessage() && positions.canBeOnlyText()
  const transform = (event: StreamEvent): readonly StreamEvent[] | null => {
    switch (event.type) {
      case 'text-delta':
        return text.read(event)
      case 'annotation-added':
        return asListIfChanged(event, insertions.applyToAnnotation(event))
      case 'item-ended':
        return endItem(event)
      case 'answer-ended':
        return mayBeMarkerOnly() || isOnlyAtEnd ? hold(event) : null
      default:
        return null
    }
  }
  const release = (): readonly StreamEvent[] => {
    const released = held
    held = NO_OUTPUT
    return released.map((event) =>
      event.type === 'item-ended' ? insertions.applyToItem(event) : event,
    )
  }
  return {
    /** Returns the events to render instead of this event; null if the event is rendered unchanged. */
    push(event: StreamEvent): readonly StreamEvent[] | null {
      markerOnlyAnswer.readEvent(event)
      otherReference.readEvent(event)
      if (held.length === 0) return transform(event)
      if (isTerminalEvent(event) || event.type === 'item-amended') return hold(event)
      const released = release()
      return [...released, ...(transform(event) ?? [event])]
    },
    /** Returns the delayed events, and the outcome with the marker. */
    end(outcome: Outcome): { readonly events: readonly StreamEvent[]; readonly outcome: Outcome } {
      // A failed answer gets no marker, because its text may have broken off anywhere, e.g. in a code fence.
      // If an answer has neither text nor calls, the client does not send it back, and no reference beside its reasoning.
      const isNamed = isOnlyAtEnd && otherReference.isWritten() && !mayBeMarkerOnly()
      const isMarked = outcome.failure === null && marker.isReady() && !isNamed
      const isTextClosed = isOnlyAtEnd && !text.isDone() && held[0]?.type !== 'item-ended'
      if (isMarked && (mayBeMarkerOnly() || (isTextClosed && positions.canAppend()))) {
        const { item, events } = markerOnlyAnswer.createMarkerMessage(
          isTextClosed && !mayBeMarkerOnly() ? BREAK + line : text.requiredBreak() + line,
        )
        const marked = { ...outcome, items: [...outcome.items, item] }
        return { events: [...events, ...release()], outcome: marked }
      }
      const { index, part, end } = positions.getLastDelta()
      const insertsAtEnd = isMarked && held[0]?.type === 'item-ended'
      const deltas = insertsAtEnd
        ? [insertions.insert({ index, part, offset: end, text: BREAK + line })]
        : []
      return { events: [...deltas, ...release()], outcome: insertions.applyToOutcome(outcome) }
    },
  }
}

interface TextMarking {
  readonly positions: MarkerPositions
  readonly insertions: TextInsertions
  readonly beginsWithBreak: boolean
  readonly isOnlyAtEnd: boolean
}

/** Inserts the marker before the first possible text after `isReady` is true. */
function insertMarkerIntoText(
  marker: PendingMarker,
  line: string,
  { positions, insertions, beginsWithBreak, isOnlyAtEnd }: TextMarking,
) {
  let needsBreak = beginsWithBreak
  let hasText = false
  let isDone = false
  /**
   * Returns the blank line that is needed before the first text, if that continues a text; empty for later
   * text.
   */
  const requiredBreak = (): string => (needsBreak ? BREAK : '')
  return {
    requiredBreak,
    /** True once the marker is inserted or cannot be inserted any more. */
    isDone: () => isDone,
    read(delta: TextDelta): readonly StreamEvent[] | null {
      if (isDone || delta.text === '') return null
      const isPossible = positions.readDelta(delta)
      const isMarked = !isOnlyAtEnd && isPossible && marker.isReady()
      isDone = isMarked || positions.isExhausted()
      const lineBreak = requiredBreak()
      const leadingLine = needsBreak || hasText ? BREAK + line : line
      needsBreak = false
      hasText = true
      if (!isMarked && lineBreak === '') return null
      const { index, part, start } = positions.getLastDelta()
      const text = isMarked ? leadingLine : lineBreak
      return [insertions.insert({ index, part, offset: start, text }), delta]
    },
  }
}

function asListIfChanged<Event extends StreamEvent>(
  event: Event,
  result: Event,
): readonly Event[] | null {
  return result === event ? null : [result]
}

/** True if the item is a message whose text ends with the last text delta. */
function endsWithLastDelta({ index, item }: ItemEnded, lastDelta: DeltaRange): boolean {
  if (item.type !== 'message' || index !== lastDelta.index) return false
  const last = item.content.at(-1)
  const isLastPart = item.content.length === lastDelta.part + 1
  return isLastPart && last?.type === 'output_text' && last.text.length === lastDelta.end
}
