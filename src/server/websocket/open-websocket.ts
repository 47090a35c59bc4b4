/** `GET /v1/responses` with `Upgrade: websocket`: upgrades the connection to a WebSocket. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { serveConnection } from './serve-connection.ts'

export function openWebSocket(
  { exchange, caller, headers }: AuthenticatedRequest,
  ports: GatewayDependencies,
): Response {
  const { upgradeToWebSocket } = exchange
  if (upgradeToWebSocket === undefined) {
    const message = 'GET /v1/responses opens a WebSocket: send `Upgrade: websocket`, or use POST.'
    throw new GatewayError('method_not_allowed', message, { headers: { allow: 'POST' } })
  }
  const isBeta = /responses_websockets/.test(headers.get('openai-beta') ?? '')
  return upgradeToWebSocket((socket) =>
    serveConnection(socket, { ...exchange, caller, ports: ports, isBeta }),
  )
}
