/**
 * Creates a source of the events that are decoded from an upstream's body. The source ends at the terminal
 * event and ignores later bytes.
 */
import { isTerminalEvent, type StreamEvent } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { FlowControl, PushSource } from '../../core/stream/push-source-interface.ts'
import { NO_OUTPUT, type StreamStage } from '../../core/stream/stream-stage.ts'

export function createDecodedEventSource(
  body: PushSource<Uint8Array>,
  decoder: StreamStage<Uint8Array, StreamEvent>,
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
          // If the body is paused, nothing else resumes it, and its connection would stay open.
          flow.resume()
          sink.end()
        } catch (error) {
          // Reports the failure before it cancels the body. Otherwise, a broken connection would be
          // reported.
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
        // If the rest of the body is unreadable, it has no events.
        return NO_OUTPUT
      }
    },
  }
}
