/**
 * WebSockets on Node. A request to upgrade goes the way of every other request, so paths, keys and
 * errors are the same; if it is granted, the package `ws` takes the connection over.
 */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { isLoopbackAddress } from './is-loopback-address.ts'
import {
  FRAME_SIZE_FACTOR,
  type ClientWebSocket,
  type WebSocketListener,
  type AcceptUpgrade,
} from '../../gateway/websocket-interface.ts'

/** What the app is given in place of Node's request and response. */
export interface UpgradeBindings {
  readonly incoming: IncomingMessage
  readonly upgrade: AcceptUpgrade
}

export interface WebSocketConnections {
  /** Lets the turns that are under way finish, then closes. */
  readonly leave: () => void
  readonly terminate: () => void
}

export interface UpgradeOptions {
  readonly answer: (request: Request, bindings: UpgradeBindings) => Response | Promise<Response>
  readonly maxBytes: number
  /** A client that does not answer two pings in a row is gone. */
  readonly pingMs: number
}

/** Any other upgrade, to HTTP/2 for one, is an offer that a server may overlook. */
export function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

export function acceptUpgrades(
  server: Server,
  { answer, maxBytes, pingMs }: UpgradeOptions,
): WebSocketConnections {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxBytes * FRAME_SIZE_FACTOR,
    perMessageDeflate: false,
  })
  const listeners = new Map<WebSocket, WebSocketListener>()
  const pings = pinging(sockets, pingMs)

  server.on('upgrade', (incoming, duplex, head) => {
    duplex.on('error', () => duplex.destroy())
    const upgrade: AcceptUpgrade = (listen) => {
      sockets.handleUpgrade(incoming, duplex, head, (socket) => {
        const listener = attached(socket, duplex, listen)
        listeners.set(socket, listener)
        socket.once('close', () => listeners.delete(socket))
      })
      return GRANTED
    }
    void Promise.resolve(answer(requestOf(incoming), { incoming, upgrade })).then((response) =>
      response === GRANTED ? undefined : refuse(duplex, response),
    )
  })
  return {
    leave() {
      for (const listener of listeners.values()) listener.leave()
    },
    terminate() {
      clearInterval(pings)
      for (const socket of sockets.clients) socket.terminate()
    },
  }
}

/** The connection is not HTTP any more, so there is nothing left to answer. */
const GRANTED = new Response(null)

export function createUpgradeHttpExchange(
  { incoming, upgrade }: UpgradeBindings,
  waitUntil: HttpExchange['waitUntil'],
): HttpExchange {
  return {
    readBody: () => Promise.resolve(new Uint8Array(0)),
    onDisconnect: () => undefined,
    startStream: () => new Response(null, { status: 500 }),
    isLocal: () =>
      isLoopbackAddress(incoming.socket.remoteAddress ?? '') &&
      isLoopbackAddress(incoming.headers.host ?? ''),
    waitUntil,
    upgradeToWebSocket: upgrade,
  }
}

function attached(
  socket: WebSocket,
  duplex: Duplex,
  listen: (socket: ClientWebSocket) => WebSocketListener,
): WebSocketListener {
  let drain = (): void => undefined
  duplex.on('drain', () => drain())
  const listener = listen({
    send(text) {
      if (socket.readyState === socket.OPEN) socket.send(text)
      return !duplex.writableNeedDrain
    },
    onDrain: (callback) => void (drain = callback),
    close: (code, reason) => socket.close(code, reason),
  })
  socket.on('message', (data: Buffer, isBinary) =>
    listener.message(isBinary ? null : data.toString(), data.length),
  )
  socket.once('close', () => listener.closed())
  // It is closed right after, with a code that says why.
  socket.on('error', () => undefined)
  return listener
}

function pinging(sockets: WebSocketServer, everyMs: number): ReturnType<typeof setInterval> {
  const silent = new WeakMap<WebSocket, number>()
  return setInterval(() => {
    for (const socket of sockets.clients) {
      const missed = silent.get(socket)
      if (missed === undefined) socket.on('pong', () => silent.set(socket, 0))
      if ((missed ?? 0) >= 2) socket.terminate()
      silent.set(socket, (missed ?? 0) + 1)
      socket.ping()
    }
  }, everyMs).unref()
}

function requestOf({ url = '/', headers }: IncomingMessage): Request {
  const { host = 'localhost' } = headers
  const base = URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost'
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return new Request(new URL(URL.canParse(url, base) ? url : '/', base), { headers: pairs })
}

async function refuse(duplex: Duplex, response: Response): Promise<void> {
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
