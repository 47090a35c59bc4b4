/**
 * Defines a client's WebSocket, independent of the runtime. `server/runtime/` has two implementations:
 * `node-websocket.ts` with the package `ws`, `workers-websocket.ts` with a WebSocketPair.
 */
export interface ClientWebSocket {
  /** Sends a message. Returns false if the client's buffer is full. Does nothing after a disconnect. */
  readonly send: (text: string) => boolean
  /** Sets the function that is called when a full buffer has room again. Replaces an earlier function. */
  readonly onDrain: (callback: () => void) => void
  readonly close: (code: number, reason: string) => void
}

/** Handlers of the gateway for the events of a WebSocket connection. */
export interface WebSocketListener {
  /** Called for a message of the client, with its text as UTF-8; null for a binary message. */
  readonly onMessage: (text: Uint8Array | null) => void
  /**
   * Called repeatedly while a large message arrives, with the number of its bytes so far. Throws a GatewayError if too
   * little memory is left; the connection must then be closed. Workers do not report incomplete messages.
   */
  readonly onMessagePart: (bytesSoFar: number) => void
  /** Called when the connection has ended. */
  readonly onClosed: () => void
  /** Called when the gateway shuts down. The current answer is finished, and no other answer is started. */
  readonly onShutdown: () => void
}

/** Accepts a request to upgrade to a WebSocket. Returns the HTTP response, which has the headers. */
export type AcceptUpgrade = (
  listen: (socket: ClientWebSocket) => WebSocketListener,
  headers?: Readonly<Record<string, string>>,
) => Response

/**
 * By how much a message may exceed the limit for request bodies before the runtime closes the connection. Up to
 * then, the gateway sends an error message instead.
 */
export const MAX_EXCESS_FRAME_BYTES = 1024 * 1024
