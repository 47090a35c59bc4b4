/** Defines sources, such as an upstream's response body, that push chunks into a sink and can be paused. */
import type { Failure } from '../stream-event.ts'

/** A source that pushes its chunks into the sink passed to `flow`. */
export interface PushSource<Chunk> {
  readonly flow: (sink: PushSink<Chunk>) => FlowControl
  readonly cancel: () => void
}

/**
 * Receives the chunks of a source. The source calls no method before its `flow` has returned. The last
 * call is `end` or `failed`, and always `failed` if the source was cancelled.
 */
export interface PushSink<Chunk = Uint8Array> {
  readonly chunk: (chunk: Chunk) => void
  readonly end: () => void
  readonly failed: (failure: Failure) => void
}

export interface FlowControl {
  readonly pause: () => void
  readonly resume: () => void
}
