/** Turns an upstream's body into a source of events that ends at the terminal event. Later bytes are ignored. */
import { isTerminalEvent, type StreamEvent } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { FlowControl, PushSource } from '../../core/stream/push-source.ts'
import { NO_OUTPUT, type Stage } from '../../core/stream/stage.ts'

export function createDecodedEventSource(
  body: PushSource<Uint8Array>,
  decoder: Stage<Uint8Array, StreamEvent>,
  log: Log,
): AnswerEventSource {
  let isOver = false
  return {
    flow(sink) {
      const read = (decode: () => readonly StreamEvent[]): void => {
        if (isOver) return
        try {
          const events = decode()
          sink.chunk(events)
          if (isOver || !events.some(isTerminalEvent)) return
          isOver = true
          // A paused body would stay open: the client has its answer and does not resume it.
          flow.resume()
          sink.end()
        } catch (error) {
          // Fail before cancelling: cancelling first would report a broken connection.
          sink.failed(convertUnexpectedError(error, log).failure)
          isOver = true
          body.cancel()
        }
      }
      const flow: FlowControl = body.flow({
        chunk: (bytes) => read(() => decoder.push(bytes)),
        end: () => read(decoder.end),
        failed(failure) {
          if (!isOver) sink.failed(failure)
        },
      })
      return flow
    },
    cancel: body.cancel,
    end() {
      if (isOver) return NO_OUTPUT
      isOver = true
      try {
        return decoder.end()
      } catch {
        // The rest of the body is unreadable, so it has no events.
        return NO_OUTPUT
      }
    },
  }
}
