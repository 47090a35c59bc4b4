/**
 * Defines an answer that consists of events instead of bytes: an answer that the gateway creates without an
 * upstream, or one that it merges from several tool rounds. It can be paused and resumed like a body.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import type { PushSource } from '../../core/stream/push-source-interface.ts'

export interface AnswerEventSource extends PushSource<readonly StreamEvent[]> {
  /**
   * Ends the answer early. Returns the end events of its open items and the terminal event; no events if
   * the answer has already ended.
   */
  readonly end: () => readonly StreamEvent[]
}
