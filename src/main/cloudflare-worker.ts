/**
 * The entry point on Cloudflare Workers: the same app as on Node, with D1, `fetch` and Web Streams.
 */
import { createBackgroundRunsOfRequest } from '../background/background-runs.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { expireUnusedTurns } from '../gateway/record/expire-unused-turns.ts'
import { createWorkersMediaFetcher } from '../media/loading/workers-media-fetcher.ts'
import { createApp } from '../server/app.ts'
import { createWebHttpExchange } from '../server/runtime/web-http-exchange.ts'
import { readSettings } from '../settings/read-settings.ts'
import { openD1, type D1Binding } from '../store/database/d1-engine.ts'
import { createFetchTransport } from '../upstream/transport/fetch-transport.ts'
import {
  createDependencies,
  createTurnIdGenerator,
  readUpstreamTimeouts,
} from './create-dependencies.ts'
import { createJsonLog } from './json-log.ts'

interface Bindings extends Readonly<Record<string, unknown>> {
  readonly DB: D1Binding
}

interface Gateway {
  readonly ports: GatewayDependencies
  readonly app: ReturnType<typeof createApp>
}

/**
 * The gateway of each `bindings` object. Thanks to this map, it is created once for each isolate (a
 * JavaScript environment of Workers), not for each request.
 */
const gateways = new WeakMap<Bindings, Gateway>()

/**
 * Maximum number of batches in one run of the schedule: Workers allow 1000 database statements in a
 * run, and a batch takes 3.
 */
const MAX_EXPIRY_BATCHES = 100

export default {
  fetch(
    request: Request,
    bindings: Bindings,
    context: ExecutionContext,
  ): Response | Promise<Response> {
    return getGateway(bindings).app.fetch(request, bindings, context)
  },
  /**
   * Deletes turns that were not used for `RETENTION_DAYS`. Runs on the cron schedule of
   * wrangler.toml.
   */
  async scheduled(_: unknown, bindings: Bindings): Promise<void> {
    await expireUnusedTurns(getGateway(bindings).ports, {
      maxBatches: MAX_EXPIRY_BATCHES,
      pauseMs: 0,
    })
  },
}

/** The memory of an isolate is limited to 128 MB, which its caches and its code share. */
const REQUEST_MEMORY_MB = 48

interface ExecutionContext {
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly passThroughOnException: () => void
  readonly props: unknown
}

function getGateway(bindings: Bindings): Gateway {
  const gateway = gateways.get(bindings) ?? createGateway(bindings)
  gateways.set(bindings, gateway)
  return gateway
}

function createGateway(bindings: Bindings): Gateway {
  const config = bindings['BACKSTORY_CONFIG']
  const configJson: unknown = typeof config === 'string' ? JSON.parse(config) : (config ?? {})
  const settings = readSettings(bindings, configJson)
  const ports = createDependencies(settings, {
    engine: openD1(bindings.DB),
    transport: createFetchTransport(readUpstreamTimeouts(settings)),
    fetchMedia: createWorkersMediaFetcher(settings.MEDIA_FETCH_ALLOW),
    replicaId: null,
    newTurnId: createTurnIdGenerator(),
    requestMemoryMb: REQUEST_MEMORY_MB,
    log: createJsonLog((line) => console.log(line), Date.now),
  })
  const app = createApp(ports, createBackgroundRunsOfRequest(ports), ({ req, executionCtx }) =>
    createWebHttpExchange(req.raw, (work) => executionCtx.waitUntil(work)),
  )
  return { ports, app }
}
