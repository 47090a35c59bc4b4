/** Builds a World out of an environment and serves it on Node's HTTP server. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { monotonicFactory } from 'ulid'
import { accountsFrom } from './upstream/accounts.ts'
import { createApp } from './app.ts'
import { turnIdFromUlid } from './conversation/ids.ts'
import type { Exchange } from './edge/exchange.ts'
import { nodeExchange } from './edge/node-exchange.ts'
import {
  acceptUpgrades,
  isWebSocketUpgrade,
  upgradeExchange,
  type UpgradeBindings,
  type Upgrades,
} from './edge/node-websocket.ts'
import { inTime } from './history/in-time.ts'
import { expireHourly } from './history/retention.ts'
import { randomNumbers } from './random-numbers.ts'
import { replica } from './replica.ts'
import { readSettings, type Settings } from './settings.ts'
import { loaderFor, MEGABYTE } from './media/gateway-media.ts'
import { openRuns } from './runs/runs.ts'
import { openEngine } from './store/open-store.ts'
import { createStores } from './store/stores.ts'
import { vaultFor } from './vault-for.ts'
import { withDemo } from './transport/demo-transport.ts'
import { nodeMedia } from './transport/node-media.ts'
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
  const stores = createStores(
    await openEngine(settings.DATABASE_URL),
    vaultFor(settings.STORAGE_KEYS, log),
  )
  const upstream = undiciTransport({
    headersMs: settings.UPSTREAM_HEADERS_TIMEOUT_SECONDS * 1000,
    idleMs: settings.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
  })
  const media = nodeMedia({
    allowed: settings.MEDIA_FETCH_ALLOW,
    maxBytes: settings.MEDIA_FETCH_MAX_MB * MEGABYTE,
  })
  const ulid = monotonicFactory(randomNumbers())
  const newTurnId = () => turnIdFromUlid(ulid())
  const replicaId = newTurnId()
  const world: World = {
    ...stores,
    settings,
    accounts,
    transport: withDemo(upstream.transport),
    ...loaderFor(settings, media.fetchMedia, log),
    replica: replica(replicaId),
    newTurnId,
    nowMs: Date.now,
    log,
  }
  const runs = await openRuns(replicaId, world)
  const app = createApp(world, runs, ({ env }) => exchangeOf(env as HttpBindings | UpgradeBindings))
  const listener = getRequestListener(app.fetch)
  const server = createServer(
    { shouldUpgradeCallback: isWebSocketUpgrade },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  const upgrades = acceptUpgrades(server, {
    answer: (request, bindings) => app.fetch(request, bindings),
    maxBytes: settings.MAX_BODY_MB * 1024 * 1024,
    pingMs: settings.HEARTBEAT_SECONDS * 1000,
  })
  await listening(server, settings).catch(async (fault: unknown) => {
    await runs.close(0)
    await stores.store.close()
    throw fault
  })
  const stopExpiring = expireHourly(world)
  return {
    url: urlOf(server),
    world,
    async close() {
      stopExpiring()
      const drainMs = settings.DRAIN_SECONDS * 1000
      // Whoever follows a run that is not over by then is still there to hear of its end.
      await Promise.all([drained(server, upgrades, drainMs), runs.close(drainMs * 0.9)])
      await Promise.all([upstream.close(), media.close()])
      // A database that does not answer is not waited for.
      await inTime(stores.requests.allKept(), KEPT_WITHIN_MS)
      await stores.store.close()
    },
  }
}

const KEPT_WITHIN_MS = 1000

function exchangeOf(bindings: HttpBindings | UpgradeBindings): Exchange {
  return 'upgrade' in bindings ? upgradeExchange(bindings) : nodeExchange(bindings)
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

async function drained(server: Server, upgrades: Upgrades, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  upgrades.leave()
  // A connection that has given its last answer would wait for another question.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const impatient = setTimeout(() => {
    server.closeAllConnections()
    upgrades.terminate()
  }, drainMs)
  await closed
  upgrades.terminate()
  clearInterval(idle)
  clearTimeout(impatient)
}
