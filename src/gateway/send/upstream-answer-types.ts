/** Defines an answer that an upstream has started: the bytes of its body, or decoded events. */
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import type { RawAnswer } from './send-with-fallback.ts'

export type UpstreamAnswer = (RawAnswer | DecodedAnswer) & Partial<MultiRoundAnswer>

export interface DecodedAnswer {
  readonly prepared: PreparedRequest
  readonly events: AnswerEventSource
}

/** Additional members of an answer with tool rounds. */
export interface MultiRoundAnswer {
  /** Returns all upstream requests of the answer so far, in order. */
  readonly listSentRequests: () => readonly PreparedRequest[]
  /** Returns the error with which an upstream rejected a later round; null if none did. */
  readonly getRejection: () => GatewayError | null
}
