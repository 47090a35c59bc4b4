/**
 * One answer made of several, each asked for with what the one before has come to. They are read one after
 * the other; whoever reads the answer holds back, and ends, the one that is being read.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import type { Log } from '../../../core/ports/log-interface.ts'
import type { FinishedRound, RoundEventMerger } from './merge-round-events.ts'
import { convertUnexpectedError } from '../../../core/errors/convert-unexpected-error.ts'
import type { AnswerEventSource } from '../../send/answer-event-source-interface.ts'
import type { FlowControl, PushSink } from '../../../core/stream/push-source.ts'

/** What is read in a round, and how it goes on from there. */
export interface StreamedRound {
  readonly events: AnswerEventSource
  /** The tools of the house that may be called in it. */
  readonly names: readonly string[]
  /** The next round; `null` if the answer ends with this one. What its calls are answered is `put` before. */
  readonly goOn: (held: FinishedRound, put: EmitOutputs) => Promise<StreamedRound | null>
}

export type EmitOutputs = (outputs: readonly FunctionCallOutput[]) => void

export interface RoundStreamOptions {
  readonly first: StreamedRound
  readonly answer: RoundEventMerger
  readonly isDisconnected: () => boolean
  readonly cancel: () => void
  readonly log: Log
}

export function streamToolRounds({
  first,
  answer,
  isDisconnected,
  cancel,
  log,
}: RoundStreamOptions): AnswerEventSource {
  let round = first
  let flow = STILL
  let isPaused = false

  const flowInto = (sink: PushSink<readonly StreamEvent[]>): void => {
    const tell = (events: readonly StreamEvent[]): void => {
      if (events.length > 0) sink.chunk(events)
    }
    const failed = (failure: Failure): void => {
      // That is not the upstream's fault, and nobody is there to be told.
      if (isDisconnected()) return sink.failed(failure)
      const closed = round.events.end().filter(({ type }) => !type.startsWith('answer-'))
      tell([...answer.hear(closed), ...answer.fail(failure)])
      sink.end()
    }
    const read = (): void => {
      flow = round.events.flow({
        chunk: (events) => tell(answer.hear(events)),
        end() {
          flow = STILL
          void goOn(answer.held())
        },
        failed,
      })
      if (isPaused) flow.pause()
    }
    const goOn = async (held: FinishedRound | null): Promise<void> => {
      if (held === null) return sink.end()
      try {
        const next = await round.goOn(held, (outputs) => tell(answer.put(outputs)))
        if (next === null) {
          tell(answer.end())
          return sink.end()
        }
        round = next
        answer.next(round.names)
        read()
      } catch (error) {
        failed(convertUnexpectedError(error, log).failure)
      }
    }
    read()
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
    end: () => [...answer.hear(round.events.end()), ...answer.end()],
  }
}

/** Between two rounds nothing flows. */
const STILL: FlowControl = { pause: () => undefined, resume: () => undefined }
