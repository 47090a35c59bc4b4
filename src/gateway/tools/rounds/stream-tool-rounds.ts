/**
 * Streams the rounds of an answer as one event source. The rounds are read one after the other; pausing, resuming and
 * ending the source applies to the current round.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import type { Log } from '../../../core/ports/log-interface.ts'
import type { FinishedRound, RoundEventMerger } from './merge-round-events.ts'
import { convertUnexpectedError } from '../../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from '../../send/answer-event-source-interface.ts'
import type { FlowControl, PushSink } from '../../../core/stream/push-source.ts'

/** The events of a round, and the function that opens the round after it. */
export interface StreamedRound {
  readonly events: AnswerEventSource
  /** The gateway tools that the round may call. */
  readonly toolNames: readonly string[]
  /** Runs the calls, emits their outputs, and resolves to the next round; null if the answer ends with this one. */
  readonly openNextRound: (
    finished: FinishedRound,
    emitOutputs: (outputs: readonly FunctionCallOutput[]) => void,
  ) => Promise<StreamedRound | null>
}

export interface RoundStreamOptions {
  readonly first: StreamedRound
  readonly merger: RoundEventMerger
  readonly isDisconnected: () => boolean
  readonly cancel: () => void
  readonly log: Log
}

export function streamToolRounds({
  first,
  merger,
  isDisconnected,
  cancel,
  log,
}: RoundStreamOptions): AnswerEventSource {
  let round = first
  let flow = NO_FLOW
  let isPaused = false

  const flowInto = (sink: PushSink<readonly StreamEvent[]>): void => {
    const write = (events: readonly StreamEvent[]): void => {
      if (events.length > 0) sink.chunk(events)
    }
    const fail = (failure: Failure): void => {
      // A cancelled upstream is no failure of the answer, so no failure event is written.
      if (isDisconnected()) return sink.failed(failure)
      const closed = round.events.end().filter(({ type }) => !type.startsWith('answer-'))
      write([...merger.pushEvents(closed), ...merger.fail(failure)])
      sink.end()
    }
    const readRound = (): void => {
      flow = round.events.flow({
        chunk: (events) => write(merger.pushEvents(events)),
        end() {
          flow = NO_FLOW
          void continueAfter(merger.getFinishedRound())
        },
        failed: fail,
      })
      if (isPaused) flow.pause()
    }
    const continueAfter = async (finished: FinishedRound | null): Promise<void> => {
      if (finished === null) return sink.end()
      try {
        const next = await round.openNextRound(finished, (outputs) =>
          write(merger.addOutputs(outputs)),
        )
        if (next === null) {
          write(merger.end())
          return sink.end()
        }
        round = next
        merger.startNextRound(round.toolNames)
        readRound()
      } catch (error) {
        fail(convertUnexpectedError(error, log).failure)
      }
    }
    readRound()
  }
  return {
    flow(sink) {
      flowInto(sink)
      return {
        pause() {
          isPaused = true
          flow.pause()
        },
        resume() {
          isPaused = false
          flow.resume()
        },
      }
    },
    cancel,
    end: () => [...merger.pushEvents(round.events.end()), ...merger.end()],
  }
}

/** Between two rounds there is nothing to pause. */
const NO_FLOW: FlowControl = { pause: () => undefined, resume: () => undefined }
