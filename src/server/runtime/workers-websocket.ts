/**
 * Serves WebSockets on Cloudflare Workers. The runtime does not report how much unsent data it
 * buffers, so `send` always returns true (the buffer has room).
 */
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket, AcceptUpgrade } from '../../gateway/client-websocket-interface.ts'

/**
 * Returns the method of an HttpExchange that accepts an upgrade; `{}` for a request without
 * `Upgrade: websocket`.
 */
export function createWorkersUpgrade(request: Request): Pick<HttpExchange, 'upgradeToWebSocket'> {
  const isUpgrade = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  return isUpgrade ? { upgradeToWebSocket } : {}
}

const upgradeToWebSocket: AcceptUpgrade = (listen, headers = {}) => {
  const { 0: clientSide, 1: gatewaySide } = new WebSocketPair()
  gatewaySide.accept()
  const socket: ClientWebSocket = {
    send(text) {
      if (gatewaySide.readyState === WebSocket.OPEN) gatewaySide.send(text)
      return true
    },
    onDrain: () => undefined,
    close: (code, reason) => gatewaySide.close(code, reason),
  }
  const listener = listen(socket)
  gatewaySide.addEventListener('message', ({ data }) => {
    listener.onMessage(typeof data === 'string' ? utf8.encode(data) : null)
  })
  gatewaySide.addEventListener('close', () => {
    listener.onClosed()
    // Closes the gateway's side, because the runtime does not reply to the client's close frame.
    if (gatewaySide.readyState !== WebSocket.CLOSED) gatewaySide.close(1000)
  })
  gatewaySide.addEventListener('error', () => listener.onClosed())
  return new Response(null, { status: 101, headers, webSocket: clientSide } as ResponseInit)
}

const utf8 = new TextEncoder()

/** The parts of the runtime's global `WebSocketPair` that this file uses. */
declare const WebSocketPair: new () => {
  readonly 0: WebSocket
  readonly 1: WebSocket & { readonly accept: () => void }
}
