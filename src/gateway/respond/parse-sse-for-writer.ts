/** A rendition of an upstream's body, made of one of the messages in it. */
import type { Rendition } from './response-writer-interface.ts'
import { sseDecoder } from '../../core/stream/sse.ts'
import type { SseMessage } from '../../core/stream/stage.ts'

export function fromBody(rendition: Rendition<SseMessage>): Rendition {
  const sse = sseDecoder()
  const read = (messages: readonly SseMessage[]): string => {
    let text = ''
    for (const message of messages) text += rendition.push(message)
    return text
  }
  return {
    ...rendition,
    push: (chunk) => read(sse.push(chunk)),
    close(failure) {
      const rest = failure === null && !rendition.isOver() ? read(sse.end()) : ''
      return rest + rendition.close(failure)
    },
  }
}
