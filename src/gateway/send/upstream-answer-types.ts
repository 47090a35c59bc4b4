/** An answer on its way: as the bytes of an upstream, which its provider decodes, or as events. */
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { RawAnswer } from './send-with-fallback.ts'

export type UpstreamAnswer = (RawAnswer | DecodedAnswer) & Partial<MultiRoundAnswer>

export interface DecodedAnswer {
  readonly prepared: PreparedRequest
  readonly events: AnswerEventSource
}

/** What is known of one that is asked for in several rounds. */
export interface MultiRoundAnswer {
  /** All that was sent for the answer so far, in order. */
  readonly sent: () => readonly PreparedRequest[]
  /** With what a later round was refused, if one was. */
  readonly refusal: () => GatewayError | null
}
