/** What is answered to who asks for a WebSocket and does not open one. */
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function createUpgradeRequiredError(): GatewayError {
  return new GatewayError(
    'method_not_allowed',
    'GET /v1/responses opens a WebSocket: send `Upgrade: websocket`, or use POST.',
    { headers: { allow: 'POST' } },
  )
}
