/** Defines the data about an answered request that the tasks after the answer use. */
import type { Caller } from '../../core/client/caller.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import type { Recorder } from '../record/recorder-interface.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'

export interface AnsweredRequest {
  /** The first upstream request of the answer. */
  readonly prepared: PreparedRequest
  /** Returns all upstream requests of the answer so far: several if the model called gateway tools. */
  readonly listSentRequests: () => readonly PreparedRequest[]
  readonly caller: Caller
  readonly turnId: string
  readonly recorder: Recorder
}

/** Runs once the outcome is settled and the client has been sent the last event. */
export type AfterAnswerWork = (outcome: Promise<Outcome>) => Promise<unknown>
