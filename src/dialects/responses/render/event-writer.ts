/**
 * Collects the events of a stream and counts them. Their JSON is put together as text, because most
 * of it is the same from token to token.
 */
import { NO_OUTPUT, type SseMessage } from '../../../core/stream/stage.ts'

export interface EventWriter {
  /** `fields` is JSON without its braces, or empty. */
  readonly write: (type: string, fields: string) => void
  /** As `write`, for who has put the beginning together before: all up to the last field. */
  readonly writeFrom: (type: string, beginning: string) => void
  /** A message that is no event of this API. */
  readonly writeAs: (message: SseMessage) => void
  /** What was written since it was last asked. */
  readonly taken: () => readonly SseMessage[]
}

export function createEventWriter(): EventWriter {
  let messages: SseMessage[] = []
  let sequence = 0
  const writeFrom = (type: string, beginning: string): void => {
    messages.push({ event: type, data: `${beginning},"sequence_number":${sequence++}}` })
  }
  return {
    write: (type, fields) => writeFrom(type, `{"type":"${type}",${fields}`),
    writeFrom,
    writeAs: (message) => void messages.push(message),
    taken() {
      if (messages.length === 0) return NO_OUTPUT
      const taken = messages
      messages = []
      return taken
    },
  }
}
