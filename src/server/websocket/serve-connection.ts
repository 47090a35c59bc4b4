/**
 * Serves one WebSocket connection. A client sends `response.create` and receives the events of the
 * answer, one in each message. Requests wait in a queue and are answered one after the other. An
 * invalid message is answered with an error message and does not close the connection.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type {
  ClientWebSocket,
  WebSocketListener,
} from '../../gateway/client-websocket-interface.ts'
import type { WebSocketHttpExchange } from './websocket-http-exchange.ts'
import { claimBodyMemory } from '../runtime/claim-body-memory.ts'
import { createMessageQueue } from './message-queue.ts'
import {
  serveClientMessage,
  type WebSocketConnection,
  sendErrorMessage,
} from './serve-client-message.ts'
import { createUnstoredAnswerCache } from './unstored-answer-cache.ts'

export type WebSocketConnectionOptions = Omit<WebSocketConnection, 'socket' | 'cache'>

export function serveConnection(
  socket: ClientWebSocket,
  options: WebSocketConnectionOptions,
): WebSocketListener {
  const { ports, waitUntil } = options
  const { MAX_BODY_MB, WEBSOCKET_MINUTES } = ports.settings
  const queue = createMessageQueue(MAX_BODY_MB * 1024 * 1024)
  const trackMemory = () => ports.requestMemory.trackRequest(options.caller.tenant)
  const cache = createUnstoredAnswerCache({ ...ports, trackMemory })
  const context = { ...options, socket, cache }
  const arriving = trackMemory()
  let running: WebSocketHttpExchange | null = null
  /** Claims the memory of the message that is arriving; null before its first large part. */
  let claimArriving: ((bytesSoFar: number) => void) | null = null
  let isBusy = false
  let isClosed = false
  /**
   * The reason to close the connection; null while it stays open. When a reason is set, no further
   * request is started, and the connection closes after its current answer.
   */
  let closeReason: CloseReason | null = null

  const handleClosed = (): void => {
    isClosed = true
    clearTimeout(ageLimit)
    queue.clear()
    cache.close()
    running?.disconnect()
  }
  const close = ({ code, reason, error }: CloseReason): void => {
    if (isClosed) return
    if (error !== undefined) sendErrorMessage(socket, error)
    handleClosed()
    socket.close(code, reason)
  }
  const closeWhenIdle = (reason: CloseReason): void => {
    closeReason ??= reason
    if (!isBusy) close(closeReason)
  }
  const serveQueue = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      await serveClientMessage(next, context, (started) => (running = started))
      running = null
      if (closeReason !== null) close(closeReason)
    }
    isBusy = false
  }
  const ageLimit = setTimeout(() => closeWhenIdle(AGE_LIMIT_REACHED), WEBSOCKET_MINUTES * 60_000)

  return {
    onMessagePart(bytesSoFar) {
      claimArriving ??= claimBodyMemory(null, Infinity, arriving.claim)
      claimArriving(bytesSoFar)
    },
    onMessage(text) {
      // The queue claims the memory of the complete message.
      arriving.release()
      claimArriving = null
      if (isClosed || closeReason !== null) return
      if (queue.add({ text, memory: trackMemory() })) waitUntil(serveQueue())
      else close(TOO_MANY_MESSAGES)
    },
    onClosed() {
      arriving.close()
      handleClosed()
    },
    onShutdown: () => closeWhenIdle(SHUTTING_DOWN),
  }
}

/** `code` is a close code of the WebSocket protocol, for example 1001 (the server shuts down). */
interface CloseReason {
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

const SHUTTING_DOWN: CloseReason = { code: 1001, reason: 'The gateway is shutting down.' }
const TOO_MANY_MESSAGES: CloseReason = { code: 1008, reason: 'Too many messages.' }
const AGE_LIMIT_REACHED: CloseReason = {
  code: 1000,
  reason: 'websocket_connection_limit_reached',
  error: new GatewayError(
    'websocket_connection_limit_reached',
    'This connection has reached its age limit. Open a new one to continue.',
  ),
}
