/**
 * Defines a client's WebSocket, independent of the runtime. `server/runtime/` implements it twice:
 * `node-websocket.ts` with the package `ws`, `workers-websocket.ts` with a WebSocketPair.
 */
export interface ClientWebSocket {
  /** Returns false if the client's buffer is full. Sending to a disconnected client has no effect. */
  readonly send: (text: string) => boolean
  /** Sets the only callback, which is called when a full client has room again. */
  readonly onDrain: (callback: () => void) => void
  readonly close: (code: number, reason: string) => void
}

/** The gateway's handlers for the events of a connection. */
export interface WebSocketListener {
  /** `text` is null for a binary message. */
  readonly onMessage: (text: string | null, bytes: number) => void
  readonly onClosed: () => void
  /** Called when the gateway shuts down: a running answer is finished, no new one is started. */
  readonly onShutdown: () => void
}

/** Accepts an upgrade request; the result is the HTTP response. */
export type AcceptUpgrade = (listen: (socket: ClientWebSocket) => WebSocketListener) => Response

/**
 * Max frame size as a multiple of the body limit. Up to this size, the gateway rejects a body that is too large
 * with an error message, instead of the runtime closing the connection.
 */
export const FRAME_SIZE_FACTOR = 2
