/**
 * What an upstream answers as events, from the first byte to the terminal event. What it sends behind that is
 * let go by.
 */
import { isTerminalEvent, type StreamEvent } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { FlowControl, PushSource } from '../../core/stream/push-source.ts'
import { NO_OUTPUT, type Stage } from '../../core/stream/stage.ts'

export function createDecodedEventSource(
  body: PushSource<Uint8Array>,
  reader: Stage<Uint8Array, StreamEvent>,
  log: Log,
): AnswerEventSource {
  let isOver = false
  return {
    flow(sink) {
      const read = (events: () => readonly StreamEvent[]): void => {
        if (isOver) return
        try {
          const heard = events()
          sink.chunk(heard)
          if (isOver || !heard.some(isTerminalEvent)) return
          isOver = true
          // Nobody holds back any more what nobody waits for.
          flow.resume()
          sink.end()
        } catch (error) {
          // Told before it is cancelled, which would be heard of as a broken connection.
          sink.failed(convertUnexpectedError(error, log).failure)
          isOver = true
          body.cancel()
        }
      }
      const flow: FlowControl = body.flow({
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
      if (isOver) return NO_OUTPUT
      isOver = true
      try {
        return reader.end()
      } catch {
        // What cannot be read has no end.
        return NO_OUTPUT
      }
    },
  }
}
