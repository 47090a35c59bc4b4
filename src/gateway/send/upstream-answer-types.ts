/** Defines an answer that an upstream has started to send: its body as bytes, or its decoded events. */
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { RawAnswer } from './send-with-fallback.ts'

export type UpstreamAnswer = (RawAnswer | DecodedAnswer) & Partial<MultiRoundAnswer>

export interface DecodedAnswer {
  readonly prepared: PreparedRequest
  readonly events: AnswerEventSource
}

/** Members that an answer has only if it may have several tool rounds. */
export interface MultiRoundAnswer {
  /** Returns the upstream requests of the answer so far, one per tool round, in order. */
  readonly listSentRequests: () => readonly PreparedRequest[]
  /** Returns the error with which the upstream rejected a later tool round; null without one. */
  readonly getRejection: () => GatewayError | null
}
