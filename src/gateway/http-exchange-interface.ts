/**
 * The client's side of one request, whichever runtime it lives in. `server/runtime/node-http-exchange.ts` puts it onto
 * Node's raw request and response, `server/runtime/web-http-exchange.ts` onto Web Streams; nothing else may know which.
 */
import type { AcceptUpgrade } from './websocket-interface.ts'

export interface HttpExchange {
  /** Rejects with a GatewayError above `limitBytes`, before having read it all. */
  readonly readBody: (limitBytes: number) => Promise<Uint8Array>
  /**
   * Calls back, once, when the client goes away before it has its whole answer; at once, if it has
   * gone already.
   */
  readonly onDisconnect: (callback: () => void) => void
  /** Begins a streamed answer. */
  readonly startStream: (
    status: number,
    headers: Readonly<Record<string, string>>,
    run: (client: ClientStream) => void,
  ) => Response
  /** Where the request came from, for a gateway without keys: is it this very machine? */
  readonly isLocal: () => boolean
  /** Keeps the runtime alive until the work is done, though the answer has been sent. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Turns the connection into a WebSocket. Only where the client asks for one. */
  readonly upgradeToWebSocket?: AcceptUpgrade
}

/** Where a streamed answer is written. Writing to a client that has gone is harmless. */
export interface ClientStream {
  /** `false` when the client is full; `onDrain` tells when it can take more. */
  readonly write: (text: string | Uint8Array) => boolean
  readonly end: (text: string) => void
  /** Ends so that the client cannot take what it has for the whole. */
  readonly abort: () => void
  readonly onDrain: (callback: () => void) => void
  /** As that of its exchange. */
  readonly onDisconnect: (callback: () => void) => void
  readonly isDisconnected: () => boolean
}
