/**
 * What a client is given of an upstream's stream, chunk for chunk. A stream in the client's own language
 * goes through untouched but for what must be ours (`pass-through/pass-through-stream.ts`), any other is told anew
 * (`translate-stream.ts`), and so is a whole answer that came in the place of one (`render-json-body-as-stream.ts`):
 * whether it did, its first character says (`select-writer-by-first-byte.ts`). A chunk is a piece of a body, a message
 * in it (`parse-sse-for-writer.ts`), or some events where nobody has to decode them (`gateway/send/answer-event-source-interface.ts`).
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'

export interface ResponseWriter<Chunk = Uint8Array> {
  /** Whole events to be sent now; of length 0 for none. Throws a GatewayError on a stream that cannot be read. */
  readonly push: (chunk: Chunk) => string | Uint8Array
  /** Whether the answer has come to its end, though the upstream's body may still be open. */
  readonly isOver: () => boolean
  /** Whether it was ended here, before the upstream's last word: the rest is not wanted. */
  readonly isCutShort: () => boolean
  /**
   * The upstream's body is over, or broke. Yields what may be sent before the outcome is safe.
   * Called once.
   */
  readonly close: (failure: Failure | null) => string
  readonly outcome: () => Outcome
  /** The ending, sent when the outcome is safe. */
  readonly end: (outcome: Outcome) => string
  /** Gives what `push` and `close` held back as soon as it may be sent; what is left, `end` sends. */
  readonly onReady?: (send: (text: () => string) => void) => void
}
