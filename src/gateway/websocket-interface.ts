/**
 * A WebSocket, whichever runtime it lives in. `server/runtime/node-websocket.ts` puts it onto the package `ws`,
 * `server/runtime/workers-websocket.ts` onto a WebSocketPair; nothing else may know which.
 */
export interface ClientWebSocket {
  /** `false` when the client is full. Sending to a client that has gone is harmless. */
  readonly send: (text: string) => boolean
  /** Calls back when a client that was full can take more. There is one callback, the last. */
  readonly onDrain: (callback: () => void) => void
  readonly close: (code: number, reason: string) => void
}

/** What is said on the other side, and at last that it is closed. */
export interface WebSocketListener {
  /** `text` is `null` for a message that is no text. */
  readonly message: (text: string | null, bytes: number) => void
  readonly closed: () => void
  /** The gateway is about to end: what has begun is finished, and nothing else begins. */
  readonly leave: () => void
}

/** Answers a request to upgrade; what it returns goes back as the response. */
export type AcceptUpgrade = (listen: (socket: ClientWebSocket) => WebSocketListener) => Response

/** A frame may be this many times as large as a body, so that it can be refused in words. */
export const FRAME_SIZE_FACTOR = 2
