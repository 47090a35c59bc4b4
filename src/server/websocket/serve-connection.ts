/**
 * A conversation over one WebSocket. A client asks with `response.create`, and hears the events of
 * the answer as it would over HTTP, one in each frame. One turn at a time: what is asked meanwhile
 * waits. Whatever a client may send, it is answered, and with nothing but words.
 */
import type { ClientWebSocket, WebSocketListener } from '../../gateway/websocket-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createUnstoredAnswerCache } from './unstored-answer-cache.ts'
import type { FrameHttpExchange } from './frame-http-exchange.ts'
import { serveClientMessage, type ConnectionContext } from './serve-client-message.ts'
import { sendErrorFrame } from './send-error-frame.ts'
import { createMessageQueue } from './message-queue.ts'

export type ConnectionOptions = Omit<ConnectionContext, 'socket' | 'memory'>

export function serveConnection(
  socket: ClientWebSocket,
  conversing: ConnectionOptions,
): WebSocketListener {
  const { world, waitUntil } = conversing
  const { MAX_BODY_MB, WEBSOCKET_MINUTES } = world.settings
  const line = createMessageQueue(MAX_BODY_MB * 1024 * 1024)
  const turning = {
    ...conversing,
    socket,
    memory: createUnstoredAnswerCache(world.store, world.nowMs),
  }
  let running: FrameHttpExchange | null = null
  let isBusy = false
  let isClosed = false
  /** Why nothing more is begun, once there is a reason. */
  let farewell: Farewell | null = null

  const closed = (): void => {
    isClosed = true
    clearTimeout(limit)
    line.clear()
    running?.gone()
  }
  const close = ({ code, reason, error }: Farewell): void => {
    if (isClosed) return
    if (error !== undefined) sendErrorFrame(socket, error)
    closed()
    socket.close(code, reason)
  }
  const leave = (reason: Farewell): void => {
    farewell ??= reason
    if (!isBusy) close(farewell)
  }
  const takeTurns = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    for (let one = line.take(); one !== undefined; one = line.take()) {
      await serveClientMessage(one, turning, (begun) => (running = begun))
      running = null
      if (farewell !== null) close(farewell)
    }
    isBusy = false
  }
  const limit = setTimeout(() => leave(LIMIT_REACHED), WEBSOCKET_MINUTES * 60_000)

  return {
    message(text, bytes) {
      if (isClosed || farewell !== null) return
      if (line.add({ text, bytes })) waitUntil(takeTurns())
      else close(NOT_LISTENING)
    },
    closed,
    leave: () => leave(GOING_AWAY),
  }
}

/** Why a connection is closed, by the codes of the WebSocket protocol. */
interface Farewell {
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

const GOING_AWAY: Farewell = { code: 1001, reason: 'The gateway is shutting down.' }
const NOT_LISTENING: Farewell = { code: 1008, reason: 'Too many messages.' }
const LIMIT_REACHED: Farewell = {
  code: 1000,
  reason: 'websocket_connection_limit_reached',
  error: new GatewayError(
    'websocket_connection_limit_reached',
    'This connection is as old as a connection may be. Open a new one to go on.',
  ),
}
