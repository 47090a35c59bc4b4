/** Defines sources that push chunks into a sink with flow control, e.g. the body of an upstream response. */
import type { Failure } from '../stream-event.ts'

/** Chunks to push, and the means to stop them. */
export interface PushSource<Chunk> {
  readonly flow: (sink: PushSink<Chunk>) => FlowControl
  readonly cancel: () => void
}

/**
 * No method is called before `flow` has returned. The last call is either `end` or `failed`; after a
 * cancel it is `failed`.
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
