/** Whoever asks late whether a client has gone is told as well, wherever the gateway runs. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { expect, test } from 'vitest'
import type { ClientStream, HttpExchange } from '../../src/gateway/http-exchange-interface.ts'
import { createNodeHttpExchange } from '../../src/server/runtime/node-http-exchange.ts'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { createFrameHttpExchange } from '../../src/server/websocket/frame-http-exchange.ts'

/** An exchange whose client has gone, and how to let go of it. */
type Left = () => Promise<{ readonly exchange: HttpExchange; readonly close: () => void }>

const LEFT: Readonly<Record<string, Left>> = {
  async node() {
    const met = Promise.withResolvers<HttpBindings>()
    const listener = getRequestListener(async (_, env) => {
      met.resolve(env as HttpBindings)
      return new Promise<Response>(() => undefined)
    })
    const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const asking = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
    asking.on('error', () => undefined).end()
    const bindings = await met.promise
    const gone = new Promise((resolve) => bindings.outgoing.once('close', resolve))
    asking.destroy()
    await gone
    return {
      exchange: createNodeHttpExchange(bindings, () => undefined),
      close: () => void server.close(),
    }
  },
  async web() {
    const client = new AbortController()
    const asked = new Request('http://localhost/', { signal: client.signal })
    client.abort()
    return { exchange: createWebHttpExchange(asked, () => undefined), close: () => undefined }
  },
  async frames() {
    const socket = { send: () => true, onDrain: () => undefined, close: () => undefined }
    const connection = { isLocal: () => true, waitUntil: () => undefined }
    const { exchange, gone } = createFrameHttpExchange(socket, null, connection)
    gone()
    return { exchange, close: () => undefined }
  },
}

test.each(Object.entries(LEFT))('%s: the exchange and its client say so, once', async (_, left) => {
  const { exchange, close } = await left()
  const told: string[] = []
  let client: ClientStream | null = null
  exchange.onDisconnect(() => told.push('exchange'))
  exchange.startStream(200, {}, (begun) => {
    client = begun
    begun.onDisconnect(() => told.push('client'))
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(told).toEqual(['exchange', 'client'])
  expect((client as ClientStream | null)?.isDisconnected()).toBe(true)
  close()
})
