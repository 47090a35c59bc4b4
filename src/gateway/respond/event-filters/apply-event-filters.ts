/**
 * Runs the events of an answer through filters, which may end it before the upstream does. The rest of the
 * upstream's body is then not needed.
 */
import {
  isTerminalEvent,
  type Failure,
  type StreamEvent,
  type TokenUsage,
} from '../../../core/stream-event.ts'
import { NO_OUTPUT, type SseMessage, type Stage } from '../../../core/stream/stage.ts'

/** A filter of one answer's events. Filters have state, so each answer needs new ones. */
export type EventFilter = Stage<StreamEvent, StreamEvent>

export interface FilteredDecoder<In = SseMessage> extends Stage<In, StreamEvent> {
  /** True if a filter ended the answer before the upstream did. */
  readonly isCutShort: () => boolean
  /** Returns the last events of an answer whose body broke off. */
  readonly closeBroken: (failure: Failure) => readonly StreamEvent[]
}

export function applyEventFilters<In>(
  decoder: Stage<In, StreamEvent>,
  filters: readonly EventFilter[],
): FilteredDecoder<In> {
  let isCutShort = false
  const broken = (failure: Failure) => runFilters(closeBrokenAnswer(decoder, failure), filters)
  if (filters.length === 0) return { ...decoder, isCutShort: () => false, closeBroken: broken }
  return {
    push(message) {
      if (isCutShort) return NO_OUTPUT
      const decoded = decoder.push(message)
      const events = runFilters(decoded, filters)
      const ending = decoded.find(isTerminalEvent)
      isCutShort = ending === undefined && events.some(isTerminalEvent)
      // An upstream that reports usage during the stream may have reported it already.
      const last = isCutShort ? decoder.end().find(isTerminalEvent) : ending
      return withUsage(events, last?.usage ?? null)
    },
    end: () => (isCutShort ? NO_OUTPUT : filterEventList(decoder.end(), filters)),
    isCutShort: () => isCutShort,
    closeBroken: broken,
  }
}

/** Filters the events of a complete answer. Its usage is known, even if a filter ends it early. */
export function filterEventList(
  events: readonly StreamEvent[],
  filters: readonly EventFilter[],
): readonly StreamEvent[] {
  if (filters.length === 0) return events
  return withUsage(runFilters(events, filters), events.find(isTerminalEvent)?.usage ?? null)
}

function runFilters(
  events: readonly StreamEvent[],
  filters: readonly EventFilter[],
): readonly StreamEvent[] {
  let current = events
  for (const filter of filters) {
    if (current.length === 1 && current[0] !== undefined) current = filter.push(current[0])
    else if (current.length > 1) current = current.flatMap((event) => filter.push(event))
  }
  return current
}

function withUsage(
  events: readonly StreamEvent[],
  usage: TokenUsage | null,
): readonly StreamEvent[] {
  if (usage === null) return events
  return events.map((event) =>
    event.type === 'answer-ended' && event.usage === null ? { ...event, usage } : event,
  )
}

/**
 * Ends the events of an answer that broke off: closes the open items as incomplete, so that the partial answer can be
 * stored and shown, then adds the failure.
 */
export function closeBrokenAnswer(
  { end }: Pick<Stage<never, StreamEvent>, 'end'>,
  failure: Failure,
): readonly StreamEvent[] {
  const closed = end().filter((event) => !isTerminalEvent(event))
  return [...closed, { type: 'answer-failed', failure }]
}
