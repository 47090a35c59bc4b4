/** An answer on its way: as the bytes of an upstream, which its provider decodes, or as events. */
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AnswerEvents } from './answer-event-source-interface.ts'
import type { Asked } from './send-with-fallback.ts'
import type { Prepared } from '../prompt/prepare-request.ts'

export type Answer = (Asked | Told) & Partial<AskedInRounds>

export interface Told {
  readonly prepared: Prepared
  readonly events: AnswerEvents
}

/** What is known of one that is asked for in several rounds. */
export interface AskedInRounds {
  /** All that was sent for the answer so far, in order. */
  readonly sent: () => readonly Prepared[]
  /** With what a later round was refused, if one was. */
  readonly refusal: () => GatewayError | null
}
