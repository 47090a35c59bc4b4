/** Defines sources that push chunks into a sink, with flow control. */
import type { Failure } from '../stream-event.ts'

/** What is pushed into a sink: the body of a reply, or anything that comes as one does. */
export interface PushSource<Chunk> {
  readonly flow: (sink: PushSink<Chunk>) => FlowControl
  readonly cancel: () => void
}

/**
 * Nothing is called before `flow` has returned. Exactly one of `end` and `failed` is called, at
 * last; after a cancel it is `failed`.
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
