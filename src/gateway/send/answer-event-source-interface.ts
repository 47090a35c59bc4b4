/**
 * An answer that comes as events, so that there is nothing to decode: one that the gateway gives itself,
 * or that it joins of several. It flows as a body does.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import type { PushSource } from '../../core/stream/push-source.ts'

export interface AnswerEventSource extends PushSource<readonly StreamEvent[]> {
  /**
   * Ends it here, whatever would still come, as the end of a decoder does: yields the ends of what is
   * open, and the one terminal event; nothing behind that one.
   */
  readonly end: () => readonly StreamEvent[]
}
