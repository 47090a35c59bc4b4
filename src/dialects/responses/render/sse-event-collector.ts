/**
 * Collects the events of a stream until they are taken, and numbers them. Events are built as JSON
 * text instead of objects, because most of that text is the same for each token.
 */
import type { SseMessage } from '../../../core/stream/sse.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'

export interface SseEventCollector {
  /** Adds an event. `fields` is JSON without braces: `"output_index":0`. */
  readonly addEvent: (type: string, fields: string) => void
  /**
   * Adds an event. `eventStart` is its JSON without `sequence_number` and the closing brace:
   * `{"type":"…","output_index":0`.
   */
  readonly addPrebuiltEvent: (type: string, eventStart: string) => void
  /**
   * Adds a message that is not an event of the Responses API, e.g. a status message for Open WebUI.
   */
  readonly addMessage: (message: SseMessage) => void
  /** Returns the messages that were added since the last call. */
  readonly takeMessages: () => readonly SseMessage[]
}

export function createSseEventCollector(): SseEventCollector {
  let messages: SseMessage[] = []
  let sequence = 0
  const writeStart = (type: string, eventStart: string): void => {
    messages.push({ event: type, data: `${eventStart},"sequence_number":${sequence++}}` })
  }
  return {
    addEvent: (type, fields) => writeStart(type, `{"type":"${type}",${fields}`),
    addPrebuiltEvent: writeStart,
    addMessage: (message) => void messages.push(message),
    takeMessages() {
      if (messages.length === 0) return NO_OUTPUT
      const taken = messages
      messages = []
      return taken
    },
  }
}
