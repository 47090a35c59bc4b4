/** The exchange of one turn on a connection: its answer is written as frames. */
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket } from '../../gateway/websocket-interface.ts'
import { createFrameEncoder } from './frame-encoder.ts'

export interface FrameHttpExchange {
  readonly exchange: HttpExchange
  /** Resolves when the answer is over, or the client has gone. */
  readonly whenOver: Promise<void>
  /** The connection is closed. */
  readonly gone: () => void
}

export function createFrameHttpExchange(
  socket: ClientWebSocket,
  streamId: string | null,
  connection: Pick<HttpExchange, 'isLocal' | 'waitUntil'>,
): FrameHttpExchange {
  const { promise: whenOver, resolve } = Promise.withResolvers<void>()
  const callbacks: (() => void)[] = []
  const framed = createFrameEncoder(streamId)
  let isDisconnected = false
  let isOver = false

  const onDisconnect = (callback: () => void): void => {
    if (isDisconnected) callback()
    else callbacks.push(callback)
  }
  const write = (written: string | Uint8Array): boolean => {
    let hasRoom = true
    if (!isOver) for (const frame of framed(written)) hasRoom = socket.send(frame)
    return hasRoom
  }
  const end = (text: string): void => {
    write(text)
    isOver = true
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
    whenOver,
    gone() {
      if (isOver || isDisconnected) return
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
