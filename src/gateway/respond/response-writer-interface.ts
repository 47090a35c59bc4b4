/**
 * Defines the writer that converts an upstream's stream to the client's stream. There are two kinds. One
 * passes a stream in the client's dialect through, with patched ids
 * (`pass-through/pass-through-writer.ts`). The other decodes and renders any other answer
 * (`translating-writer.ts`). A chunk is a piece of the upstream's body, or a list of events.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'

export interface ResponseWriter<Chunk = Uint8Array> {
  /**
   * Converts a chunk. Returns the SSE events to send now, or an empty text. Throws a GatewayError if the
   * chunk is unreadable.
   */
  readonly push: (chunk: Chunk) => string | Uint8Array
  /** True once the answer has ended, even if the upstream's body is still open. */
  readonly isOver: () => boolean
  /** True if the gateway ended the answer early, so that the upstream can be cancelled. */
  readonly isCutShort: () => boolean
  /**
   * Called once, when the upstream's body has ended (with null) or has broken off (with the failure).
   * Returns the text to send before the turn is stored.
   */
  readonly endBody: (failure: Failure | null) => string
  /**
   * Called instead of `endBody` if the client has disconnected. Adds the partial answer to the outcome, and renders
   * nothing.
   */
  readonly abandon: () => void
  readonly getOutcome: () => Outcome
  /** Renders the last events, which are sent after the turn is stored. */
  readonly renderEnd: (outcome: Outcome) => string
  /**
   * Sets the function that is called when delayed text can be sent. Text that is still delayed at the end
   * is returned by `renderEnd`.
   */
  readonly onReady?: (send: (text: () => string) => void) => void
}

/** The failure with which a writer ends the open items of an abandoned answer. */
export const CLIENT_DISCONNECTED = createFailure('upstream_broken', 'The client disconnected.')
