/**
 * The way to an upstream, whichever runtime the gateway lives in. A body is pushed, not pulled:
 * that is what undici does on Node, and a reader on Workers can do it as well.
 */
import type { Failure } from '../conversation/event.ts'

export type Transport = (request: UpstreamRequest) => Call

export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

/** A request on its way. It can be taken back at any time, before and after the headers. */
export interface Call {
  /** Rejects with a GatewayError when there is no answer at all. */
  readonly reply: Promise<Reply>
  readonly cancel: () => void
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Lets the body flow into `sink`. Called once. */
  readonly flow: (sink: Sink) => Flow
}

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

export interface Timeouts {
  readonly headersMs: number
  /** Between two pieces of a body. */
  readonly idleMs: number
}
