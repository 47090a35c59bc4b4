/**
 * Inserts the marker of a turn into a streamed answer: as a delta of its own, and into the item with that text. If
 * the marker could be visible or change the rendered text everywhere, none is inserted: the turn is then found by its
 * text. An answer without text or client calls gets a message with only the marker (`marker-only-message.ts`).
 *
 * Only the end of a message is delayed, if it may be the last and has no marker yet: in the Responses API an ended
 * item cannot grow, so a marker after its text has to come before its end. The end waits for the next event or, if
 * that ends the answer, until `end` is called, which is the last chance for the turn to be stored in time.
 */
import {
  isTerminalEvent,
  type ItemEnded,
  type StreamEvent,
  type TextDelta,
} from '../../../core/stream-event.ts'
import { formatMarkerLine } from '../../../core/markers/extract-turn-markers.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import { createTextInsertions, type TextInsertions } from './insert-text-and-shift-annotations.ts'
import { trackSilentAnswer } from './marker-only-message.ts'
import {
  BEFORE_TEXT,
  trackMarkerPositions,
  NO_POSITION,
  type DeltaRange,
  type MarkerPositions,
} from './find-marker-positions.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'

export interface PendingMarker {
  readonly turnId: string
  /** True once the turn is durable and has items that are worth replaying. No marker is written before. */
  readonly isReady: () => boolean
}

export interface MarkerOptions {
  /** True if the client appends the answer to a text of its own, so that a line break is needed first. */
  readonly beginsWithBreak?: boolean
  /** The text that the answer continues. An open code fence in it, for example, rules out a marker. */
  readonly continuedText?: string
}

export interface MarkerInserter {
  /** Returns the events to render; null for the same event, unchanged. */
  readonly push: (event: StreamEvent) => readonly StreamEvent[] | null
  /** Returns the events that were held back, and the outcome as the client receives it. */
  readonly end: (outcome: Outcome) => {
    readonly events: readonly StreamEvent[]
    readonly outcome: Outcome
  }
}

const BREAK = '\n\n'

export function createMarkerInserter(
  marker: PendingMarker,
  options: MarkerOptions = {},
): MarkerInserter {
  const { beginsWithBreak = false, continuedText = '' } = options
  const positions = trackMarkerPositions(continuedText + (beginsWithBreak ? BREAK : ''))
  const insertions = createTextInsertions()
  const silentAnswer = trackSilentAnswer()
  const line = formatMarkerLine(marker.turnId) + BREAK
  const text = insertMarkerIntoText(marker, line, { positions, insertions, beginsWithBreak })
  let held: readonly StreamEvent[] = NO_OUTPUT

  const hold = (event: StreamEvent): readonly StreamEvent[] => {
    held = [...held, event]
    return NO_OUTPUT
  }
  const endItem = (event: ItemEnded): readonly StreamEvent[] | null => {
    const mayGetMarker =
      !text.isDone() && endsWithLastDelta(event, positions.lastDelta()) && positions.canEnd()
    return mayGetMarker ? hold(event) : asListIfChanged(event, insertions.applyToItem(event))
  }
  const mayBeMarkerOnly = (): boolean => silentAnswer.isSilent() && positions.canBegin()
  const transform = (event: StreamEvent): readonly StreamEvent[] | null => {
    switch (event.type) {
      case 'text-delta':
        return text.read(event)
      case 'annotation-added':
        return asListIfChanged(event, insertions.applyToAnnotation(event))
      case 'item-ended':
        return endItem(event)
      case 'answer-ended':
        return mayBeMarkerOnly() ? hold(event) : null
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
    push(event) {
      silentAnswer.read(event)
      if (held.length === 0) return transform(event)
      if (isTerminalEvent(event)) return hold(event)
      const released = release()
      return [...released, ...(transform(event) ?? [event])]
    },
    end(outcome) {
      // A failed answer may have broken off anywhere in its text.
      const isMarked = outcome.failure === null && marker.isReady()
      if (isMarked && mayBeMarkerOnly()) {
        const { item, events } = silentAnswer.createMarkerMessage(text.requiredBreak() + line)
        const marked = { ...outcome, items: [...outcome.items, item] }
        return { events: [...events, ...release()], outcome: marked }
      }
      const { index, part, end } = positions.lastDelta()
      const insertsAtEnd = isMarked && held[0]?.type === 'item-ended'
      const deltas = insertsAtEnd
        ? [insertions.insert({ index, part, at: end, text: BREAK + line })]
        : []
      return { events: [...deltas, ...release()], outcome: insertions.applyToOutcome(outcome) }
    },
  }
}

interface TextMarking {
  readonly positions: MarkerPositions
  readonly insertions: TextInsertions
  readonly beginsWithBreak: boolean
}

/** Inserts the marker at the first possible position after the turn is ready. */
function insertMarkerIntoText(
  marker: PendingMarker,
  line: string,
  { positions, insertions, beginsWithBreak }: TextMarking,
) {
  let needsBreak = beginsWithBreak
  let hasText = false
  let isDone = false
  /** Returns the line break that the first text still needs before it. */
  const requiredBreak = (): string => (needsBreak ? BREAK : '')
  return {
    requiredBreak,
    /** True once the marker is inserted, or if no position is left. */
    isDone: () => isDone,
    read(delta: TextDelta): readonly StreamEvent[] | null {
      if (isDone || delta.text === '') return null
      const found = positions.read(delta)
      const isMarked = found !== NO_POSITION && marker.isReady()
      isDone = isMarked || positions.areExhausted()
      const lineBreak = requiredBreak()
      const leadingLine = needsBreak || hasText ? BREAK + line : line
      needsBreak = false
      hasText = true
      if (!isMarked && lineBreak === '') return null
      const { index, part, start } = positions.lastDelta()
      const insertAt = (offset: number, text: string) =>
        insertions.insert({ index, part, at: start + offset, text })
      if (!isMarked) return [insertAt(0, lineBreak), delta]
      if (found === BEFORE_TEXT) return [insertAt(0, leadingLine), delta]
      const breaks = lineBreak === '' ? [] : [insertAt(0, lineBreak)]
      return [...breaks, ...splitAtMarker(delta, found, insertAt(found, line))]
    },
  }
}

function asListIfChanged<Event extends StreamEvent>(
  event: Event,
  result: Event,
): readonly Event[] | null {
  return result === event ? null : [result]
}

function splitAtMarker(delta: TextDelta, offset: number, marker: TextDelta): readonly TextDelta[] {
  const { text } = delta
  if (offset === 0) return [marker, delta]
  return [{ ...delta, text: text.slice(0, offset) }, marker, { ...delta, text: text.slice(offset) }]
}

/** True if the item ends with the text of the last delta, as it was streamed. */
function endsWithLastDelta({ index, item }: ItemEnded, lastDelta: DeltaRange): boolean {
  if (item.type !== 'message' || index !== lastDelta.index) return false
  const last = item.content.at(-1)
  const isLastPart = item.content.length === lastDelta.part + 1
  return isLastPart && last?.type === 'output_text' && last.text.length === lastDelta.end
}
