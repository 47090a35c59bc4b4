/**
 * Defines an answer that comes as events instead of bytes: one that the gateway makes itself, or one that it merges
 * from several tool rounds. The events flow like the chunks of a body.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import type { PushSource } from '../../core/stream/push-source.ts'

export interface AnswerEventSource extends PushSource<readonly StreamEvent[]> {
  /**
   * Ends the answer early, like `end` of a decoder: returns the ends of its open items and the terminal event, or
   * nothing if that was sent.
   */
  readonly end: () => readonly StreamEvent[]
}
