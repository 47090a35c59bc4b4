/** Builds a World out of an environment and serves it on Node's HTTP server. */
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../server/app.ts'
import type { Log } from '../core/ports/log-interface.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { createNodeHttpExchange } from '../server/runtime/node-http-exchange.ts'
import {
  acceptUpgrades,
  isWebSocketUpgrade,
  createUpgradeHttpExchange,
  type UpgradeBindings,
  type WebSocketConnections,
} from '../server/runtime/node-websocket.ts'
import { trackPendingWork, type PendingWork } from '../server/runtime/pending-work.ts'
import { expireTurnsHourly } from '../gateway/record/expire-unused-turns.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/wait-with-timeout.ts'
import { createNodeDependencies } from './create-node-dependencies.ts'
import { openProcessRuns } from '../background/background-runs.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

export interface RunningServer {
  readonly url: string
  readonly dependencies: GatewayDependencies
  /** Takes no more requests, lets open streams finish for a while, then lets everything go. */
  readonly close: () => Promise<void>
}

export async function serveNode(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<RunningServer> {
  const opened = await createNodeDependencies(environment, configFile, log)
  const { dependencies, replicaId, closeUpstreamConnections, close: closeWorld } = opened
  const { settings } = dependencies
  const runs = await openProcessRuns(replicaId, dependencies)
  const works = trackPendingWork()
  const app = createApp(dependencies, runs, ({ env }) =>
    exchangeOf(env as HttpBindings | UpgradeBindings, works),
  )
  const listener = getRequestListener(app.fetch)
  const server = createServer(
    { keepAliveTimeout: IDLE_MS, shouldUpgradeCallback: isWebSocketUpgrade },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  const upgrades = acceptUpgrades(server, {
    answer: (request, bindings) => app.fetch(request, bindings),
    maxBytes: settings.MAX_BODY_MB * 1024 * 1024,
    pingMs: settings.HEARTBEAT_SECONDS * 1000,
  })
  await listening(server, settings).catch(async (fault: unknown) => {
    await runs.close(0)
    await runs.leave()
    await closeWorld()
    throw fault
  })
  const stopExpiring = expireTurnsHourly(dependencies)
  return {
    url: urlOf(server),
    dependencies,
    async close() {
      stopExpiring()
      const drainMs = settings.DRAIN_SECONDS * 1000
      const left = Promise.all([drained(server, upgrades), works.over()])
      await Promise.all([
        givenTime(left, {
          drainMs,
          hangUp: closeUpstreamConnections,
          breakOff: () => brokenOff(server, upgrades),
        }),
        // Whoever follows a run that is not over by then is still there to hear of its end.
        runs.close(drainMs * 0.9),
      ])
      await runs.leave()
      await closeWorld()
    },
  }
}

/**
 * For how long a connection may do nothing. Whoever asks again over one that is being closed gets no
 * answer, so it is longer than what proxies, balancers and clients keep theirs for, a minute at most.
 */
const IDLE_MS = 75_000

function exchangeOf(
  bindings: HttpBindings | UpgradeBindings,
  { waitUntil }: PendingWork,
): HttpExchange {
  return 'upgrade' in bindings
    ? createUpgradeHttpExchange(bindings, waitUntil)
    : createNodeHttpExchange(bindings, waitUntil)
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

interface Draining {
  readonly drainMs: number
  /** What is answered by then ends unfinished, and its client is told so. */
  readonly hangUp: () => Promise<void>
  /** Nobody is told any more. */
  readonly breakOff: () => void
}

/** So long a client may take to hear it; and so long it may take to keep how it ended. */
const TELLING_MS = 500

/** All that is left has so long to end; then it is ended. */
async function givenTime(
  left: Promise<unknown>,
  { drainMs, hangUp, breakOff }: Draining,
): Promise<void> {
  if ((await waitWithTimeout(left, drainMs)) !== TIMED_OUT) return
  void hangUp()
  if ((await waitWithTimeout(left, TELLING_MS)) !== TIMED_OUT) return
  breakOff()
  await waitWithTimeout(left, TELLING_MS)
}

async function drained(server: Server, upgrades: WebSocketConnections): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  upgrades.leave()
  // A connection that has given its last answer would wait for another question.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  await closed
  clearInterval(idle)
  upgrades.terminate()
}

function brokenOff(server: Server, upgrades: WebSocketConnections): void {
  server.closeAllConnections()
  upgrades.terminate()
}
