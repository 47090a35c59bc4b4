/** A rendition of an upstream's body, made of one of the messages in it. */
import type { ResponseWriter } from './response-writer-interface.ts'
import { createSseDecoder } from '../../core/stream/sse.ts'
import type { SseMessage } from '../../core/stream/stage.ts'

export function createSseBodyWriter(rendition: ResponseWriter<SseMessage>): ResponseWriter {
  const sse = createSseDecoder()
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
