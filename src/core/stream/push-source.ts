/** Defines sources that push chunks into a sink, with flow control. */
import type { Failure } from '../stream-event.ts'

/** What is pushed into a sink: the body of a reply, or anything that comes as one does. */
export interface Source<Chunk> {
  readonly flow: (sink: Sink<Chunk>) => Flow
  readonly cancel: () => void
}

/**
 * Nothing is called before `flow` has returned. Exactly one of `end` and `failed` is called, at
 * last; after a cancel it is `failed`.
 */
export interface Sink<Chunk = Uint8Array> {
  readonly chunk: (chunk: Chunk) => void
  readonly end: () => void
  readonly failed: (failure: Failure) => void
}

export interface Flow {
  readonly pause: () => void
  readonly resume: () => void
}
