/**
 * One answer made of several, each asked for with what the one before has come to. They are read one after
 * the other; whoever reads the answer holds back, and ends, the one that is being read.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import type { Log } from '../../../core/ports/log-interface.ts'
import type { HeldRound, JoinedRounds } from './merge-round-events.ts'
import { asGatewayError } from '../../../core/errors/convert-unexpected-error.ts'
import type { AnswerEvents } from '../../send/answer-event-source-interface.ts'
import type { Flow, Sink } from '../../../core/stream/push-source.ts'

/** What is read in a round, and how it goes on from there. */
export interface OpenRound {
  readonly events: AnswerEvents
  /** The tools of the house that may be called in it. */
  readonly names: readonly string[]
  /** The next round; `null` if the answer ends with this one. What its calls are answered is `put` before. */
  readonly goOn: (held: HeldRound, put: Put) => Promise<OpenRound | null>
}

export type Put = (outputs: readonly FunctionCallOutput[]) => void

export interface InRounds {
  readonly first: OpenRound
  readonly answer: JoinedRounds
  readonly isGone: () => boolean
  readonly cancel: () => void
  readonly log: Log
}

export function inRounds({ first, answer, isGone, cancel, log }: InRounds): AnswerEvents {
  let round = first
  let flow = STILL
  let isPaused = false

  const flowInto = (sink: Sink<readonly StreamEvent[]>): void => {
    const tell = (events: readonly StreamEvent[]): void => {
      if (events.length > 0) sink.chunk(events)
    }
    const failed = (failure: Failure): void => {
      // That is not the upstream's fault, and nobody is there to be told.
      if (isGone()) return sink.failed(failure)
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
    const goOn = async (held: HeldRound | null): Promise<void> => {
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
        failed(asGatewayError(error, log).failure)
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
const STILL: Flow = { pause: () => undefined, resume: () => undefined }
