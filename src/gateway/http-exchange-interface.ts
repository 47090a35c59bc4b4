/**
 * Defines the connection to the client of one HTTP request, independent of the runtime. `server/runtime/`
 * has two implementations: `node-http-exchange.ts` for Node, `web-http-exchange.ts` for Workers.
 */
import type { AcceptUpgrade } from './client-websocket-interface.ts'
import type { RequestMemory } from './request-memory.ts'

export interface HttpExchange {
  /** When the headers of the request had arrived, as a time of `performance.now()`. */
  readonly startedAtMs: number
  /**
   * Reads the request body. Rejects with a GatewayError if it is larger than `limitBytes`, or if
   * `claimMemory` throws one.
   */
  readonly readBody: (
    limitBytes: number,
    claimMemory: RequestMemory['claim'],
  ) => Promise<Uint8Array>
  /**
   * Registers a function that is called once if the client disconnects before it has the complete answer.
   * If the client is already disconnected, the function is called immediately.
   */
  readonly onDisconnect: (callback: () => void) => void
  /**
   * Registers a function that is called once, when the client has received the complete answer or has disconnected.
   * Must be called after `startStream`. A Worker does not learn what its client has received, so on Workers the function
   * is called when the last part of the answer was written.
   */
  readonly onSent: (callback: () => void) => void
  /** Sends status and headers, then calls `run`, which writes the streamed answer. */
  readonly startStream: (
    status: number,
    headers: Readonly<Record<string, string>>,
    run: (client: ClientStream) => void,
  ) => Response
  /** True if the client is on the same machine. A gateway without API keys rejects all other clients. */
  readonly isLocal: () => boolean
  /** Keeps the runtime alive until the work is done, even if the answer is complete before. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /**
   * Starts work for which no client waits, e.g. to store the partial answer of a client that has disconnected, and
   * keeps the runtime alive until it is done. Hundreds of clients may disconnect at once, so on Node only one such
   * task starts in each pass of the event loop.
   */
  readonly runLater: (work: () => Promise<unknown>) => void
  /** Upgrades the connection to a WebSocket; undefined unless the client requested that. */
  readonly upgradeToWebSocket?: AcceptUpgrade
}

/** The client of a streamed answer. Writing to a disconnected client has no effect. */
export interface ClientStream {
  /**
   * Writes to the client. Returns false if the client's buffer is full; the function passed to `onDrain` is
   * called when the buffer has room again.
   */
  readonly write: (text: string | Uint8Array) => boolean
  readonly end: (text: string) => void
  /** Breaks the connection, so that the client notices that the answer is incomplete. */
  readonly abort: () => void
  readonly onDrain: (callback: () => void) => void
  /** Registers a function for a disconnect, like `HttpExchange.onDisconnect`. */
  readonly onDisconnect: (callback: () => void) => void
  readonly isDisconnected: () => boolean
}
