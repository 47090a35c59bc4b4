/** An error as a frame: what HTTP says with a status and a body, in one object. */
import type { ClientWebSocket } from '../../gateway/websocket-interface.ts'
import type { GatewayError } from '../../core/errors/gateway-error.ts'

export function sendErrorFrame(
  socket: ClientWebSocket,
  { failure, headers }: GatewayError,
  streamId: string | null = null,
): void {
  const { status, type, code, message, param } = failure
  const { connection: _http, ...told } = headers
  const error = { type, code: code ?? type, message, param }
  const more = Object.keys(told).length > 0 ? { headers: told } : {}
  const lane = streamId === null ? {} : { stream_id: streamId }
  socket.send(JSON.stringify({ type: 'error', ...lane, status, error: { ...error, ...more } }))
}
