/**
 * Defines the interface for sending a request to an upstream, on Node and on Workers. The body of
 * the reply is pushed into a sink: undici pushes bodies itself, and the transport for Workers reads
 * the stream and pushes its chunks.
 */
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import type { PushSink, FlowControl } from '../../core/stream/push-source-interface.ts'

export type Transport = (request: UpstreamRequest) => UpstreamCall

export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

/** A request in progress. It can be cancelled before and after the headers of the reply arrive. */
export interface UpstreamCall {
  /**
   * Resolves to the reply as soon as its headers arrive. Rejects with a GatewayError if the
   * upstream sends none, or if the call is cancelled before: a MaybeProcessedError unless the request certainly did
   * not reach the upstream.
   */
  readonly reply: Promise<UpstreamReply>
  readonly cancel: () => void
}

export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Starts pushing the body into the sink. May be called only once. */
  readonly flow: (sink: PushSink) => FlowControl
}

export interface TransportTimeouts {
  readonly headersMs: number
  /** Maximum time between two chunks of a body. */
  readonly idleMs: number
}

export const IDLE_TIMEOUT_FAILURE = createFailure(
  'upstream_timeout',
  'The upstream stopped sending in the middle of its answer.',
)
export const CONNECTION_BROKEN_FAILURE = createFailure(
  'upstream_broken',
  'The connection to the upstream broke in the middle of its answer.',
)

/**
 * The error of a request that the upstream may have processed although its answer did not arrive. Such a request is
 * not sent again, neither to this upstream nor to another one, because it could be executed and billed twice.
 */
export class MaybeProcessedError extends GatewayError {}

/** `reason`: e.g. `ECONNRESET`. */
export function createConnectionBrokenError(reason: string, cause: unknown): MaybeProcessedError {
  return new MaybeProcessedError(
    'upstream_broken',
    `The connection to the upstream broke before it answered (${reason}). It may have processed the request, so the request was not sent again.`,
    { cause },
  )
}

export function createUnansweredTimeoutError(cause: unknown): MaybeProcessedError {
  return new MaybeProcessedError('upstream_timeout', 'The upstream did not answer in time.', {
    cause,
  })
}

/**
 * True if a proxy of the upstream did not wait any longer for the model's answer (504, and 524 of Cloudflare). The
 * model may still process the request.
 */
export function isProxyTimeout(status: number): boolean {
  return status === 504 || status === 524
}
