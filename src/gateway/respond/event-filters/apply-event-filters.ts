/**
 * Guards over what a model says: each may end the answer before the upstream does. What the upstream
 * would still say is of no use then, so that it need not be waited for.
 */
import {
  isTerminalEvent,
  type Failure,
  type StreamEvent,
  type TokenUsage,
} from '../../../core/stream-event.ts'
import { closeBrokenAnswer } from './close-broken-answer.ts'
import { NO_OUTPUT, type SseMessage, type Stage } from '../../../core/stream/stage.ts'

/** Made anew for every answer. */
export type EventFilter = Stage<StreamEvent, StreamEvent>

export interface FilteredDecoder<In = SseMessage> extends Stage<In, StreamEvent> {
  /** Whether a guard ended the answer before the upstream's last word. */
  readonly isCutShort: () => boolean
  /** The ending of an answer whose body broke. */
  readonly broken: (failure: Failure) => readonly StreamEvent[]
}

export function applyEventFilters<In>(
  decoder: Stage<In, StreamEvent>,
  guards: readonly EventFilter[],
): FilteredDecoder<In> {
  let isCut = false
  const broken = (failure: Failure) => passed(closeBrokenAnswer(decoder, failure), guards)
  if (guards.length === 0) return { ...decoder, isCutShort: () => false, broken }
  return {
    push(message) {
      if (isCut) return NO_OUTPUT
      const said = decoder.push(message)
      const events = passed(said, guards)
      const ending = said.find(isTerminalEvent)
      isCut = ending === undefined && events.some(isTerminalEvent)
      // Of what the answer has cost the decoder may know something already.
      const last = isCut ? decoder.end().find(isTerminalEvent) : ending
      return withUsage(events, last?.usage ?? null)
    },
    end: () => (isCut ? NO_OUTPUT : filterEventList(decoder.end(), guards)),
    isCutShort: () => isCut,
    broken,
  }
}

/** The events of an answer that was there at once, and whose cost is known therefore. */
export function filterEventList(
  events: readonly StreamEvent[],
  guards: readonly EventFilter[],
): readonly StreamEvent[] {
  if (guards.length === 0) return events
  return withUsage(passed(events, guards), events.find(isTerminalEvent)?.usage ?? null)
}

function passed(
  events: readonly StreamEvent[],
  guards: readonly EventFilter[],
): readonly StreamEvent[] {
  let current = events
  for (const guard of guards) {
    if (current.length === 1 && current[0] !== undefined) current = guard.push(current[0])
    else if (current.length > 1) current = current.flatMap((event) => guard.push(event))
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
