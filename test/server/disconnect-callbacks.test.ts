/** On every runtime, a disconnect that happened before a callback was added still calls it. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { expect, test } from 'vitest'
import type { ClientStream, HttpExchange } from '../../src/gateway/http-exchange-interface.ts'
import { createNodeHttpExchange } from '../../src/server/runtime/node-http-exchange.ts'
import { trackPendingWork } from '../../src/server/runtime/pending-work.ts'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { createWebSocketHttpExchange } from '../../src/server/websocket/websocket-http-exchange.ts'

/** Returns an exchange whose client has disconnected, and a function that releases its resources. */
type CreateDisconnected = () => Promise<{
  readonly exchange: HttpExchange
  readonly close: () => void
}>

const RUNTIMES: Readonly<Record<string, CreateDisconnected>> = {
  async node() {
    const received = Promise.withResolvers<HttpBindings>()
    const listener = getRequestListener(async (_, env) => {
      received.resolve(env as HttpBindings)
      return new Promise<Response>(() => undefined)
    })
    const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const clientRequest = request({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
    })
    clientRequest.on('error', () => undefined).end()
    const bindings = await received.promise
    const closed = new Promise((resolve) => bindings.outgoing.once('close', resolve))
    clientRequest.destroy()
    await closed
    return {
      exchange: createNodeHttpExchange(bindings, trackPendingWork()),
      close: () => void server.close(),
    }
  },
  async web() {
    const client = new AbortController()
    const aborted = new Request('http://localhost/', { signal: client.signal })
    client.abort()
    return { exchange: createWebHttpExchange(aborted, () => undefined), close: () => undefined }
  },
  async websocket() {
    const socket = { send: () => true, onDrain: () => undefined, close: () => undefined }
    const connection = { isLocal: () => true, ...trackPendingWork() }
    const { exchange, disconnect } = createWebSocketHttpExchange(socket, null, connection)
    disconnect()
    return { exchange, close: () => undefined }
  },
}

test.each(Object.entries(RUNTIMES))(
  'a disconnect callback that is added after the client has disconnected is called once (runtime %s)',
  async (_, create) => {
    const { exchange, close } = await create()
    const calls: string[] = []
    let client: ClientStream | null = null
    exchange.onDisconnect(() => calls.push('exchange'))
    exchange.startStream(200, {}, (started) => {
      client = started
      started.onDisconnect(() => calls.push('client'))
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(calls).toEqual(['exchange', 'client'])
    expect((client as ClientStream | null)?.isDisconnected()).toBe(true)
    close()
  },
)
