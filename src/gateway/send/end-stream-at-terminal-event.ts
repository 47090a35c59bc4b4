/**
 * What an upstream answers as events, from the first byte to the terminal event. What it sends behind that is
 * let go by.
 */
import { isTerminal, type StreamEvent } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { asGatewayError } from '../../core/errors/convert-unexpected-error.ts'
import type { AnswerEvents } from './answer-event-source-interface.ts'
import type { Flow, Source } from '../../core/stream/push-source.ts'
import { NOTHING, type Stage } from '../../core/stream/stage.ts'

export function decodedAnswer(
  body: Source<Uint8Array>,
  reader: Stage<Uint8Array, StreamEvent>,
  log: Log,
): AnswerEvents {
  let isOver = false
  return {
    flow(sink) {
      const read = (events: () => readonly StreamEvent[]): void => {
        if (isOver) return
        try {
          const heard = events()
          sink.chunk(heard)
          if (isOver || !heard.some(isTerminal)) return
          isOver = true
          // Nobody holds back any more what nobody waits for.
          flow.resume()
          sink.end()
        } catch (error) {
          // Told before it is cancelled, which would be heard of as a broken connection.
          sink.failed(asGatewayError(error, log).failure)
          isOver = true
          body.cancel()
        }
      }
      const flow: Flow = body.flow({
        chunk: (bytes) => read(() => reader.push(bytes)),
        end: () => read(reader.end),
        failed(failure) {
          if (!isOver) sink.failed(failure)
        },
      })
      return flow
    },
    cancel: body.cancel,
    end() {
      if (isOver) return NOTHING
      isOver = true
      try {
        return reader.end()
      } catch {
        // What cannot be read has no end.
        return NOTHING
      }
    },
  }
}
