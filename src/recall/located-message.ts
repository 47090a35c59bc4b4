/** Defines a message of the client with the answer segments that it consists of. */
import type { AnswerInMessage } from '../core/client/answer-message-ids.ts'

/** A message of the client: its answer segments from index `start` up to, but not including, index `end`. */
export interface LocatedMessage {
  readonly start: number
  readonly end: number
  /** The range of the message in the client's list: from index `from` up to, but not including, index `to`. */
  readonly from: number
  readonly to: number
  /** The stored answers of the message, the earliest first. */
  readonly answers: readonly AnswerInMessage[]
  /** False if the segments may belong to another message, so that the texts have to agree. */
  readonly isCertain: boolean
}
