/** The exchange of one turn on a connection: its answer is written as frames. */
import type { Client, Exchange } from '../../gateway/http-exchange-interface.ts'
import type { Socket } from '../../gateway/websocket-interface.ts'
import { framer } from './frame-encoder.ts'

export interface FrameExchange {
  readonly exchange: Exchange
  /** Resolves when the answer is over, or the client has gone. */
  readonly whenOver: Promise<void>
  /** The connection is closed. */
  readonly gone: () => void
}

export function frameExchange(
  socket: Socket,
  streamId: string | null,
  connection: Pick<Exchange, 'isLocal' | 'waitUntil'>,
): FrameExchange {
  const { promise: whenOver, resolve } = Promise.withResolvers<void>()
  const callbacks: (() => void)[] = []
  const framed = framer(streamId)
  let isGone = false
  let isOver = false

  const onGone = (callback: () => void): void => {
    if (isGone) callback()
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
  const client: Client = {
    write,
    end,
    breakOff: () => end(''),
    onDrain: socket.onDrain,
    onGone,
    isGone: () => isGone,
  }
  return {
    whenOver,
    gone() {
      if (isOver || isGone) return
      isGone = true
      for (const callback of callbacks) callback()
      resolve()
    },
    exchange: {
      ...connection,
      body: () => Promise.resolve(new Uint8Array(0)),
      onGone,
      stream(_status, _headers, run) {
        run(client)
        return new Response(null)
      },
    },
  }
}
