/**
 * Creates a source of decoded events from an upstream's body. It ends at the terminal event and ignores
 * later bytes.
 */
import { isTerminalEvent, type StreamEvent } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { FlowControl, PushSource } from '../../core/stream/push-source.ts'
import { NO_OUTPUT, type Stage } from '../../core/stream/stream-stage.ts'

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
          // Nothing else would resume a paused body, so its connection would stay open.
          flow.resume()
          sink.end()
        } catch (error) {
          // The failure is reported before the body is cancelled; otherwise a broken connection would be
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
        // An unreadable rest of the body has no events.
        return NO_OUTPUT
      }
    },
  }
}
