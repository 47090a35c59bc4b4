/**
 * Serves WebSockets on Node. An upgrade request passes through the app like any other request, with
 * the same paths, keys and errors. If a route accepts it, the package `ws` takes over the
 * connection.
 */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { errorMessage, GatewayError } from '../../core/errors/gateway-error.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { addRequestId } from '../../gateway/request-id.ts'
import { normalizePath } from '../normalize-path.ts'
import { renderError } from '../render-error.ts'
import { isLocalRequest } from './node-http-exchange.ts'
import type { UploadWatch } from './node-upload-watch.ts'
import type { PendingWork } from './pending-work.ts'
import {
  MAX_EXCESS_FRAME_BYTES,
  type ClientWebSocket,
  type WebSocketListener,
  type AcceptUpgrade,
} from '../../gateway/client-websocket-interface.ts'

/** The app's bindings for an upgrade request, which has no ServerResponse. */
export interface UpgradeBindings {
  readonly incoming: IncomingMessage
  readonly upgrade: AcceptUpgrade
}

export interface WebSocketConnections {
  /** Closes each connection after its current answer; an idle connection immediately. */
  readonly closeAfterAnswers: () => void
  readonly terminate: () => void
}

export interface UpgradeOptions {
  readonly handle: (request: Request, bindings: UpgradeBindings) => Response | Promise<Response>
  readonly maxMessageBytes: number
  /** Time between two pings. A client that misses two pings in a row is disconnected. */
  readonly pingMs: number
  /** Ends messages that arrive too slowly. */
  readonly uploads: UploadWatch
  readonly log: Log
  readonly newTurnId: () => string
}

/**
 * True for an upgrade of `/v1/responses` to a WebSocket. Other upgrades, such as `h2c` (HTTP/2) or
 * those of other paths, are answered like requests without an upgrade, as HTTP allows.
 */
export function isWebSocketUpgrade(incoming: IncomingMessage): boolean {
  const { method, headers } = incoming
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  const url = parseRequestUrl(incoming)
  return url !== null && WEBSOCKET_PATHS.has(normalizePath(url.pathname))
}

const WEBSOCKET_PATHS: ReadonlySet<string> = new Set(['/responses', '/v1/responses'])

export function acceptUpgrades(
  server: Server,
  { handle, maxMessageBytes, pingMs, uploads, log, newTurnId }: UpgradeOptions,
): WebSocketConnections {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes + MAX_EXCESS_FRAME_BYTES,
    perMessageDeflate: false,
  })
  /** The headers that the answer to an upgrade has in addition. */
  const addedHeaders = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()
  sockets.on('headers', (lines, incoming) => {
    const added = Object.entries(addedHeaders.get(incoming) ?? {})
    lines.push(...added.map(([name, value]) => `${name}: ${value}`))
  })
  sockets.on('wsClientError', ({ message }, duplex) => {
    const error = new GatewayError(
      'invalid_value',
      `The upgrade to a WebSocket failed: ${message}.`,
    )
    void writeResponse(duplex, renderError(error, newTurnId()))
  })
  const connections = new Map<WebSocket, Connection>()
  const pingTimer = startPinging(connections, pingMs)

  server.on('upgrade', (incoming, stream, head) => {
    const duplex = stream as Socket
    duplex.on('error', () => duplex.destroy())
    const upgrade: AcceptUpgrade = (listen, headers = {}) => {
      addedHeaders.set(incoming, headers)
      sockets.handleUpgrade(incoming, duplex, head, (socket) => {
        const listener = attachListener(socket, duplex, listen)
        const onPart = (bytesSoFar: number): void => {
          try {
            listener.onMessagePart(bytesSoFar)
          } catch (error) {
            log('warn', 'websocket-closed', { why: errorMessage(error) })
            closeForMemory(socket)
          }
        }
        const stopWatching = watchMessages(socket, duplex, { uploads, onPart })
        connections.set(socket, { listener, duplex, bytesRead: duplex.bytesRead, missedPings: -1 })
        socket.once('close', () => {
          stopWatching()
          connections.delete(socket)
        })
      })
      return ACCEPTED
    }
    const respond = async (): Promise<void> => {
      const response = await handle(convertRequest(incoming), { incoming, upgrade })
      if (response !== ACCEPTED) await writeResponse(duplex, response)
    }
    // An error in this handler of a socket must not end the process with all its other connections.
    respond().catch((error: unknown) => {
      const turnId = newTurnId()
      const converted = convertUnexpectedError(error, addRequestId(log, turnId))
      return writeResponse(duplex, renderError(converted, turnId))
    })
  })
  return {
    closeAfterAnswers() {
      for (const { listener } of connections.values()) listener.onShutdown()
    },
    terminate() {
      clearInterval(pingTimer)
      for (const socket of sockets.clients) socket.terminate()
    },
  }
}

/**
 * The response of an accepted upgrade. It is never written, because the connection is no longer HTTP. Its header keeps
 * the app from adding headers to it.
 */
const ACCEPTED = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })

export function createUpgradeHttpExchange(
  { incoming, upgrade }: UpgradeBindings,
  { waitUntil, runLater }: Omit<PendingWork, 'whenIdle'>,
): HttpExchange {
  return {
    startedAtMs: performance.now(),
    readBody: () => Promise.resolve(new Uint8Array(0)),
    onDisconnect: () => undefined,
    onSent: (callback) => callback(),
    startStream: () => new Response(null, { status: 500 }),
    isLocal: () => isLocalRequest(incoming),
    waitUntil,
    runLater,
    upgradeToWebSocket: upgrade,
  }
}

function attachListener(
  socket: WebSocket,
  duplex: Duplex,
  listen: (socket: ClientWebSocket) => WebSocketListener,
): WebSocketListener {
  let onDrain = (): void => undefined
  duplex.on('drain', () => onDrain())
  const listener = listen({
    send(text) {
      if (socket.readyState === socket.OPEN) socket.send(text)
      return !duplex.writableNeedDrain
    },
    onDrain: (callback) => void (onDrain = callback),
    close: (code, reason) => socket.close(code, reason),
  })
  socket.on('message', (data: Buffer, isBinary) => listener.onMessage(isBinary ? null : data))
  socket.once('close', () => listener.onClosed())
  // Errors need no handling: after an error, `ws` closes the socket with a code for the reason.
  socket.on('error', () => undefined)
  return listener
}

interface MessageWatch {
  readonly uploads: UploadWatch
  /** Called with the number of bytes so far, whenever 64 KB more of a message have arrived. */
  readonly onPart: (bytesSoFar: number) => void
}

/**
 * Watches the message that is arriving, i.e. the bytes since the end of the latest message without pings
 * and pongs.
 */
function watchMessages(
  socket: WebSocket,
  duplex: Socket,
  { uploads, onPart }: MessageWatch,
): () => void {
  let before = duplex.bytesRead
  let reported = 0
  // `ws` has handled the chunk before, because its listener was added first.
  duplex.on('data', () => {
    const bytes = duplex.bytesRead - before
    if (bytes < reported + PART_BYTES || socket.isPaused) return
    reported = bytes
    onPart(bytes)
  })
  const skipControlFrame = (data: Buffer): void =>
    void (before += CONTROL_FRAME_BYTES + data.length)
  socket.on('ping', skipControlFrame)
  socket.on('pong', skipControlFrame)
  socket.on('message', () => {
    before = duplex.bytesRead
    reported = 0
  })
  return uploads.watch({
    countBytes: () => (duplex.bytesRead > before ? duplex.bytesRead - before : null),
    onTooSlow: () => socket.close(1008, 'The message arrived too slowly.'),
  })
}

const PART_BYTES = 65_536

/** Closes a connection whose message takes too much memory, and frees that memory soon. */
function closeForMemory(socket: WebSocket): void {
  socket.close(1013, 'The gateway has too little memory for this message. Try again later.')
  // The client cannot answer the close frame before the end of its message, so its answer is not awaited for long.
  socket.pause()
  const timer = setTimeout(() => socket.terminate(), MAX_CLOSING_MS)
  socket.once('close', () => clearTimeout(timer))
}

const MAX_CLOSING_MS = 1_000

/** Size of a client's ping or pong without its data: 2 bytes of header and 4 of mask. */
const CONTROL_FRAME_BYTES = 6

interface Connection {
  readonly listener: WebSocketListener
  readonly duplex: Socket
  bytesRead: number
  /** -1 before the first ping. */
  missedPings: number
}

/**
 * Pings all clients. Any bytes count as an answer, because a client that sends a long message cannot send
 * a pong before its end.
 */
function startPinging(
  connections: ReadonlyMap<WebSocket, Connection>,
  everyMs: number,
): ReturnType<typeof setInterval> {
  return setInterval(() => {
    for (const [socket, connection] of connections) {
      const { bytesRead } = connection.duplex
      connection.missedPings = bytesRead === connection.bytesRead ? connection.missedPings + 1 : 0
      connection.bytesRead = bytesRead
      if (connection.missedPings >= MAX_MISSED_PINGS) socket.terminate()
      else socket.ping()
    }
  }, everyMs).unref()
}

const MAX_MISSED_PINGS = 2

function convertRequest(incoming: IncomingMessage): Request {
  const pairs = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return new Request(parseRequestUrl(incoming) ?? 'http://localhost/', { headers: pairs })
}

/** Returns null for a URL that a `Request` cannot have: an invalid one, or one with credentials (`Host: a@b`). */
function parseRequestUrl({ url = '/', headers }: IncomingMessage): URL | null {
  const { host = 'localhost' } = headers
  if (host === '') return null
  const parsed = URL.parse(url.startsWith('/') ? `http://${host}${url}` : url)
  return parsed?.username === '' && parsed.password === '' ? parsed : null
}

async function writeResponse(duplex: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  const headers = [...response.headers].filter(([name]) => name !== 'connection')
  const lines = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
    'connection: close',
  ]
  duplex.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
}
