/**
 * Defines how an upstream's stream becomes the client's stream. A stream in the client's dialect passes through,
 * with patched ids and echoed fields (`pass-through/pass-through-stream.ts`); any other answer is decoded and
 * rendered (`translate-stream.ts`), including one JSON object that was sent in place of a stream
 * (`select-writer-by-first-byte.ts`). A chunk is a piece of the upstream's body, or a list of events.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'

export interface ResponseWriter<Chunk = Uint8Array> {
  /** Returns complete events to send now, or a text of length 0. Throws a GatewayError if the chunk is unreadable. */
  readonly push: (chunk: Chunk) => string | Uint8Array
  /** True once the answer has ended, even if the upstream's body is still open. */
  readonly isOver: () => boolean
  /** True if the gateway ended the answer early, so that the rest of the upstream's body is not needed. */
  readonly isCutShort: () => boolean
  /**
   * Ends the upstream's body, with a failure if it broke. Returns the text to send before the turn is stored.
   * Called once.
   */
  readonly close: (failure: Failure | null) => string
  readonly outcome: () => Outcome
  /** Returns the ending, which is sent once the turn is stored. */
  readonly end: (outcome: Outcome) => string
  /** Sets the function that sends delayed text as soon as it may be sent; `end` returns any that remains. */
  readonly onReady?: (send: (text: () => string) => void) => void
}
