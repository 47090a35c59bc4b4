/**
 * Streams the tool rounds of an answer as one event source. The rounds are read one after the other. If the
 * source is paused, resumed or ended, so is the current round.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import type { Log } from '../../../core/ports/log-interface.ts'
import type { FinishedRound, RoundEventMerger } from './merge-round-events.ts'
import { convertUnexpectedError } from '../../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from '../../send/answer-event-source-interface.ts'
import type { FlowControl, PushSink } from '../../../core/stream/push-source-interface.ts'

/** The events of a tool round, and the function that opens the next round. */
export interface StreamedRound {
  readonly events: AnswerEventSource
  /** Names of the gateway tools that the round may call. */
  readonly toolNames: readonly string[]
  /**
   * Runs the gateway calls of the round, emits their outputs, and opens the next round. Resolves to null if
   * the answer ends with this round.
   */
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

export function streamToolRounds(options: RoundStreamOptions): AnswerEventSource {
  const { first, merger, isDisconnected, cancel, log } = options
  let round = first
  let flow = NO_FLOW
  let isPaused = false

  const flowInto = (sink: PushSink<readonly StreamEvent[]>): void => {
    const write = (events: readonly StreamEvent[]): void => {
      if (events.length > 0) sink.chunk(events)
    }
    const fail = (failure: Failure): void => {
      // After a disconnect, the failure is only the cancelled upstream, so no failure event is written.
      if (isDisconnected()) return sink.failed(failure)
      const closed = round.events.end().filter(({ type }) => !type.startsWith('answer-'))
      write([...merger.pushEvents(closed), ...merger.failAnswer(failure)])
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
          write(merger.endAnswer())
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
    end: () => [...merger.pushEvents(round.events.end()), ...merger.endAnswer()],
  }
}

/** Flow control between two rounds, when there is nothing to pause. */
const NO_FLOW: FlowControl = { pause: () => undefined, resume: () => undefined }
