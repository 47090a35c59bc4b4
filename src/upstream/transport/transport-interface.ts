/**
 * The way to an upstream, whichever runtime the gateway lives in. A body is pushed, not pulled:
 * that is what undici does on Node, and a reader on Workers can do it as well.
 */
import type { PushSink, FlowControl } from '../../core/stream/push-source.ts'

export type Transport = (request: UpstreamRequest) => UpstreamCall

export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

/** A request on its way. It can be taken back at any time, before and after the headers. */
export interface UpstreamCall {
  /** Rejects with a GatewayError when there is no answer at all. */
  readonly reply: Promise<UpstreamReply>
  readonly cancel: () => void
}

export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Lets the body flow into `sink`. Called once. */
  readonly flow: (sink: PushSink) => FlowControl
}

export interface TransportTimeouts {
  readonly headersMs: number
  /** Between two pieces of a body. */
  readonly idleMs: number
}
