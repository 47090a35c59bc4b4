/**
 * Runs the events of an answer through filters. A filter may end the answer before the upstream does, e.g.
 * at a stop sequence; the rest of the upstream's body is then not needed.
 */
import {
  isTerminalEvent,
  type Failure,
  type StreamEvent,
  type TokenUsage,
} from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import { NO_OUTPUT, type StreamStage } from '../../../core/stream/stream-stage.ts'

/** A filter for the events of one answer. Filters have state, so each answer needs new filters. */
export type EventFilter = StreamStage<StreamEvent, StreamEvent>

export interface FilteredDecoder<In = SseMessage> extends StreamStage<In, StreamEvent> {
  /** True if a filter ended the answer before the upstream did. */
  readonly isCutShort: () => boolean
  /** Returns the last events of an answer whose body broke off: the ends of its open items, and the failure. */
  readonly endBrokenAnswer: (failure: Failure) => readonly StreamEvent[]
}

export function applyEventFilters<In>(
  decoder: StreamStage<In, StreamEvent>,
  filters: readonly EventFilter[],
): FilteredDecoder<In> {
  let isCutShort = false
  const broken = (failure: Failure) => runFilters(closeBrokenAnswer(decoder, failure), filters)
  if (filters.length === 0) return { ...decoder, isCutShort: () => false, endBrokenAnswer: broken }
  return {
    push(message) {
      if (isCutShort) return NO_OUTPUT
      const decoded = decoder.push(message)
      const events = runFilters(decoded, filters)
      const ending = decoded.find(isTerminalEvent)
      isCutShort = ending === undefined && events.some(isTerminalEvent)
      // Ends the decoder to get the usage. The decoder knows it if the upstream reported it earlier in the
      // stream.
      const last = isCutShort ? decoder.end().find(isTerminalEvent) : ending
      return withUsage(events, last?.usage ?? null)
    },
    end: () => (isCutShort ? NO_OUTPUT : filterEventList(decoder.end(), filters)),
    isCutShort: () => isCutShort,
    endBrokenAnswer: broken,
  }
}

/**
 * Filters the events of a complete answer. An answer that a filter ends early still has the usage of the
 * complete answer.
 */
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
 * Returns the last events of an answer that broke off: the ends of the open items, then the failure. The
 * items end as incomplete, so that the partial answer can be stored and shown.
 */
export function closeBrokenAnswer(
  { end }: Pick<StreamStage<never, StreamEvent>, 'end'>,
  failure: Failure,
): readonly StreamEvent[] {
  const closed = end().filter((event) => !isTerminalEvent(event))
  return [...closed, { type: 'answer-failed', failure }]
}
