/**
 * WebSockets on Workers. The runtime queues what is sent and does not say how much of it waits, so a
 * client there is never full.
 */
import type { ClientWebSocket, AcceptUpgrade } from '../../gateway/websocket-interface.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'

/** Returns an empty object for a request that does not ask for a WebSocket. */
export function createWorkersUpgrade(request: Request): Pick<HttpExchange, 'upgradeToWebSocket'> {
  return request.headers.get('upgrade')?.toLowerCase() === 'websocket' ? { upgradeToWebSocket } : {}
}

const upgradeToWebSocket: AcceptUpgrade = (listen) => {
  const { 0: theirs, 1: ours } = new WebSocketPair()
  ours.accept()
  const socket: ClientWebSocket = {
    send(text) {
      if (ours.readyState === WebSocket.OPEN) ours.send(text)
      return true
    },
    onDrain: () => undefined,
    close: (code, reason) => ours.close(code, reason),
  }
  const listener = listen(socket)
  ours.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') listener.message(data, data.length)
    else listener.message(null, 0)
  })
  ours.addEventListener('close', () => {
    listener.closed()
    // This side has to say good-bye, too.
    if (ours.readyState !== WebSocket.CLOSED) ours.close(1000)
  })
  ours.addEventListener('error', () => listener.closed())
  return new Response(null, { status: 101, webSocket: theirs } as ResponseInit)
}

/** The parts of the runtime's own type that are in use here. */
declare const WebSocketPair: new () => {
  readonly 0: WebSocket
  readonly 1: WebSocket & { readonly accept: () => void }
}
