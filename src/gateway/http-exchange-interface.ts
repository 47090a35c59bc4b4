/**
 * Defines the client's side of one HTTP request, independent of the runtime. `server/runtime/` implements it
 * twice: `node-http-exchange.ts` on Node's request and response, `web-http-exchange.ts` on Web Streams.
 */
import type { AcceptUpgrade } from './websocket-interface.ts'

export interface HttpExchange {
  /** Rejects with a GatewayError as soon as the body is larger than `limitBytes`. */
  readonly readBody: (limitBytes: number) => Promise<Uint8Array>
  /**
   * Calls back once if the client disconnects before it has the complete answer; immediately if the
   * client is already disconnected.
   */
  readonly onDisconnect: (callback: () => void) => void
  /** Sends the status and the headers, then calls `run` to write the streamed answer. */
  readonly startStream: (
    status: number,
    headers: Readonly<Record<string, string>>,
    run: (client: ClientStream) => void,
  ) => Response
  /** True if the client is on this machine. A gateway without API keys accepts only such clients. */
  readonly isLocal: () => boolean
  /** Keeps the runtime alive until the work is done, even after the answer was sent. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Turns the connection into a WebSocket; undefined unless the client requested an upgrade. */
  readonly upgradeToWebSocket?: AcceptUpgrade
}

/** The writable side of a streamed answer. Writing to a disconnected client has no effect. */
export interface ClientStream {
  /** Returns false if the client's buffer is full; `onDrain` reports when it has room again. */
  readonly write: (text: string | Uint8Array) => boolean
  readonly end: (text: string) => void
  /** Breaks the connection off, so that the client cannot take a partial answer for a complete one. */
  readonly abort: () => void
  readonly onDrain: (callback: () => void) => void
  /** Behaves like `onDisconnect` of the exchange. */
  readonly onDisconnect: (callback: () => void) => void
  readonly isDisconnected: () => boolean
}
