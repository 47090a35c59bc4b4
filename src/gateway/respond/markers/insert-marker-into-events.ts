/**
 * Puts the marker of a turn into an answer as it comes: as one delta of its own, and into the item
 * whose text it is. Where it might be seen, or change what is seen, there is none: a turn is found
 * by other means as well. Only if there are no others, it is a message by itself (`marker-only-message.ts`).
 *
 * Nothing is delayed but the end of a message that may be the last and has no marker yet. In the
 * Responses API an item that has ended cannot grow, so that a marker behind its text has to come
 * before its end. That waits for the next event; and, if the next event is the end of the answer,
 * for the last moment at which the turn may become ready. All that the message says is told by then.
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
  type MarkerPositions,
} from './find-marker-positions.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'

export interface PendingMarker {
  readonly turnId: string
  /** Whether the turn holds something worth replaying, and all of that is durable: only then it may be named. */
  readonly isReady: () => boolean
}

export interface MarkerOptions {
  /** The answer goes on with a text of the client's, which puts it directly behind that. */
  readonly beginsWithBreak?: boolean
  /** That text. Where it leaves something open, there is no place for a marker either. */
  readonly continued?: string
}

export interface MarkerInserter {
  /** `null` stands for the very event, unchanged. */
  readonly push: (event: StreamEvent) => readonly StreamEvent[] | null
  /** What was held back, and the outcome as it is told to the client. */
  readonly end: (outcome: Outcome) => Ending
}

interface Ending {
  readonly events: readonly StreamEvent[]
  readonly outcome: Outcome
}

const BREAK = '\n\n'

export function createMarkerInserter(
  mark: PendingMarker,
  options: MarkerOptions = {},
): MarkerInserter {
  const { beginsWithBreak = false, continued = '' } = options
  const spots = trackMarkerPositions(continued + (beginsWithBreak ? BREAK : ''))
  const added = createTextInsertions()
  const silent = trackSilentAnswer()
  const line = formatMarkerLine(mark.turnId) + BREAK
  const texts = markTexts(mark, line, { spots, added, beginsWithBreak })
  let held: readonly StreamEvent[] = NO_OUTPUT

  const hold = (event: StreamEvent): readonly StreamEvent[] => {
    held = [...held, event]
    return NO_OUTPUT
  }
  const endItem = (event: ItemEnded): readonly StreamEvent[] | null => {
    const mayGrow = !texts.isDone() && isNewest(event, spots.newest()) && spots.canEnd()
    return mayGrow ? hold(event) : changed(event, added.toItem(event))
  }
  const tell = (event: StreamEvent): readonly StreamEvent[] | null => {
    switch (event.type) {
      case 'text-delta':
        return texts.read(event)
      case 'annotation-added':
        return changed(event, added.toAnnotation(event))
      case 'item-ended':
        return endItem(event)
      case 'answer-ended':
        return mayBeAlone() ? hold(event) : null
      default:
        return null
    }
  }
  const mayBeAlone = (): boolean => silent.isSilent() && spots.canBegin()
  const release = (): readonly StreamEvent[] => {
    const released = held
    held = NO_OUTPUT
    return released.map((event) => (event.type === 'item-ended' ? added.toItem(event) : event))
  }
  return {
    push(event) {
      silent.read(event)
      if (held.length === 0) return tell(event)
      if (isTerminalEvent(event)) return hold(event)
      const before = release()
      return [...before, ...(tell(event) ?? [event])]
    },
    end(outcome) {
      // What failed was cut off anywhere.
      const isMarked = outcome.failure === null && mark.isReady()
      if (isMarked && mayBeAlone()) {
        const { item, events } = silent.message(texts.lead() + line)
        const told = { ...outcome, items: [...outcome.items, item] }
        return { events: [...events, ...release()], outcome: told }
      }
      const { index, part, end } = spots.newest()
      const isOpen = isMarked && held[0]?.type === 'item-ended'
      const marker = isOpen ? [added.add({ index, part, at: end, text: BREAK + line })] : []
      return { events: [...marker, ...release()], outcome: added.toOutcome(outcome) }
    },
  }
}

interface Placing {
  readonly spots: MarkerPositions
  readonly added: TextInsertions
  readonly beginsWithBreak: boolean
}

/** Tells the text of an answer with the marker in the first place that it may have, once the turn is ready. */
function markTexts(mark: PendingMarker, line: string, { spots, added, beginsWithBreak }: Placing) {
  let needsBreak = beginsWithBreak
  let hasShown = false
  let isDone = false
  const lead = (): string => (needsBreak ? BREAK : '')
  return {
    /** What is still to be told in front of the first text. */
    lead,
    /** Whether there is a marker, or no place for one any more. */
    isDone: () => isDone,
    read(delta: TextDelta): readonly StreamEvent[] | null {
      if (isDone || delta.text === '') return null
      const found = spots.read(delta)
      const isMarked = found !== NO_POSITION && mark.isReady()
      isDone = isMarked || spots.isLost()
      const before = lead()
      const front = needsBreak || hasShown ? BREAK + line : line
      needsBreak = false
      hasShown = true
      if (!isMarked && before === '') return null
      const { index, part, start } = spots.newest()
      const addAt = (at: number, text: string) => added.add({ index, part, at: start + at, text })
      if (!isMarked) return [addAt(0, before), delta]
      if (found === BEFORE_TEXT) return [addAt(0, front), delta]
      const broken = before === '' ? [] : [addAt(0, before)]
      return [...broken, ...parted(delta, found, addAt(found, line))]
    },
  }
}

function changed<Event extends StreamEvent>(event: Event, told: Event): readonly Event[] | null {
  return told === event ? null : [told]
}

function parted(delta: TextDelta, at: number, marker: TextDelta): readonly TextDelta[] {
  const { text } = delta
  if (at === 0) return [marker, delta]
  return [{ ...delta, text: text.slice(0, at) }, marker, { ...delta, text: text.slice(at) }]
}

/** Whether the item ends with the text that was told last, as it was told. */
function isNewest(
  { index, item }: ItemEnded,
  newest: { readonly index: number; readonly part: number; readonly end: number },
): boolean {
  if (item.type !== 'message' || index !== newest.index) return false
  const last = item.content.at(-1)
  const isLast = item.content.length === newest.part + 1
  return isLast && last?.type === 'output_text' && last.text.length === newest.end
}
