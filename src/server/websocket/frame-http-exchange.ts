/** Implements HttpExchange for one request on a WebSocket: its answer is written as frames. */
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket } from '../../gateway/websocket-interface.ts'
import { createFrameEncoder } from './frame-encoder.ts'

export interface FrameHttpExchange {
  readonly exchange: HttpExchange
  /** Resolves when the answer has ended or the client has disconnected. */
  readonly whenEnded: Promise<void>
  /** Reports that the connection was closed. */
  readonly disconnect: () => void
}

export function createFrameHttpExchange(
  socket: ClientWebSocket,
  streamId: string | null,
  connection: Pick<HttpExchange, 'isLocal' | 'waitUntil'>,
): FrameHttpExchange {
  const { promise: whenEnded, resolve } = Promise.withResolvers<void>()
  const callbacks: (() => void)[] = []
  const encodeFrames = createFrameEncoder(streamId)
  let isDisconnected = false
  let isEnded = false

  const onDisconnect = (callback: () => void): void => {
    if (isDisconnected) callback()
    else callbacks.push(callback)
  }
  const write = (written: string | Uint8Array): boolean => {
    let hasRoom = true
    if (!isEnded) for (const frame of encodeFrames(written)) hasRoom = socket.send(frame)
    return hasRoom
  }
  const end = (text: string): void => {
    write(text)
    isEnded = true
    resolve()
  }
  const client: ClientStream = {
    write,
    end,
    abort: () => end(''),
    onDrain: socket.onDrain,
    onDisconnect,
    isDisconnected: () => isDisconnected,
  }
  return {
    whenEnded,
    disconnect() {
      if (isEnded || isDisconnected) return
      isDisconnected = true
      for (const callback of callbacks) callback()
      resolve()
    },
    exchange: {
      ...connection,
      readBody: () => Promise.resolve(new Uint8Array(0)),
      onDisconnect,
      startStream(_status, _headers, run) {
        run(client)
        return new Response(null)
      },
    },
  }
}
