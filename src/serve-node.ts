/** Builds a World out of an environment and serves it on Node's HTTP server. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { monotonicFactory } from 'ulid'
import { accountsFrom } from './accounts.ts'
import { createApp } from './app.ts'
import { turnIdFromUlid } from './conversation/ids.ts'
import { nodeExchange } from './edge/node-exchange.ts'
import { readSettings, type Settings } from './settings.ts'
import { openStore } from './store/open-store.ts'
import { withDemo } from './transport/demo-transport.ts'
import { undiciTransport } from './transport/undici-transport.ts'
import type { Log, World } from './world.ts'

export interface Serving {
  readonly url: string
  readonly world: World
  /** Takes no more requests, lets open streams finish for a while, then lets everything go. */
  readonly close: () => Promise<void>
}

export async function serveNode(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<Serving> {
  const settings = readSettings(environment, configFile)
  const accounts = accountsFrom(settings, environment)
  const store = await openStore(settings.DATABASE_URL)
  const upstream = undiciTransport({
    headersMs: settings.UPSTREAM_HEADERS_TIMEOUT_SECONDS * 1000,
    idleMs: settings.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
  })
  const ulid = monotonicFactory()
  const world: World = {
    store,
    settings,
    accounts,
    transport: withDemo(upstream.transport),
    newTurnId: () => turnIdFromUlid(ulid()),
    nowMs: Date.now,
    log,
  }
  const app = createApp(world, (context) => nodeExchange(context.env as HttpBindings))
  const listener = getRequestListener(app.fetch)
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await listening(server, settings)
  return {
    url: urlOf(server),
    world,
    async close() {
      await drained(server)
      await upstream.close()
      await store.close()
    },
  }
}

function listening(server: Server, { PORT, HOST }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${PORT} is taken. Set PORT to another one, or PORT=0 for a free one.`)
          : error,
      ),
    )
    server.listen(PORT, HOST, resolve)
  })
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

const DRAIN_MS = 10_000

async function drained(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that has given its last answer would wait for another question.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const impatient = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearInterval(idle)
  clearTimeout(impatient)
}
