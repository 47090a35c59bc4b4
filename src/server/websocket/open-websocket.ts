/**
 * `GET /v1/responses` with `Upgrade: websocket`: upgrades the connection to a WebSocket, unless its API key
 * has too many.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ClientWebSocket } from '../../gateway/client-websocket-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { serveConnection } from './serve-connection.ts'

export function createWebSocketRoute(ports: GatewayDependencies) {
  const limit = ports.settings.WEBSOCKETS_PER_KEY
  const openSockets = new Map<string, number>()
  return ({ exchange, caller }: AuthenticatedRequest): Response => {
    const { upgradeToWebSocket } = exchange
    if (upgradeToWebSocket === undefined) {
      const message = 'GET /v1/responses opens a WebSocket: send `Upgrade: websocket`, or use POST.'
      throw new GatewayError('method_not_allowed', message, { headers: { allow: 'POST' } })
    }
    const { tenant } = caller
    const count = (change: 1 | -1): void =>
      void openSockets.set(tenant, (openSockets.get(tenant) ?? 0) + change)
    if ((openSockets.get(tenant) ?? 0) >= limit) throw createTooManySocketsError(limit)
    return upgradeToWebSocket((socket: ClientWebSocket) => {
      const listener = serveConnection(socket, { ...exchange, caller, ports })
      let isOpen = true
      count(1)
      return {
        ...listener,
        onClosed() {
          listener.onClosed()
          if (isOpen) count(-1)
          isOpen = false
        },
      }
    })
  }
}

function createTooManySocketsError(limit: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `This API key has ${limit} open WebSockets, which is the maximum. Close one, or raise WEBSOCKETS_PER_KEY.`,
    { headers: { 'retry-after': '5' } },
  )
}
