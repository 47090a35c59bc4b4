/**
 * Collects the events that a decoder emits while it reads a chunk, until the decoder returns them.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { NO_OUTPUT } from '../../core/stream/stream-stage.ts'

export interface EventBuffer {
  readonly emit: (event: StreamEvent) => void
  /** Returns the events since the last call. */
  readonly takeEvents: () => readonly StreamEvent[]
}

export function createEventBuffer(): EventBuffer {
  let events: StreamEvent[] = []
  return {
    emit: (event) => void events.push(event),
    takeEvents() {
      if (events.length === 0) return NO_OUTPUT
      const taken = events
      events = []
      return taken
    },
  }
}
