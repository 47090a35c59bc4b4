/**
 * The entry point on Cloudflare Workers: the same app as on Node, with D1, `fetch` and Web Streams.
 */
import {
  createBackgroundRunsOfRequest,
  type WorkerBackgroundRuns,
} from '../background/background-runs.ts'
import { errorMessage, GatewayError } from '../core/errors/gateway-error.ts'
import { parseJsonWithComments } from '../core/json/json-with-comments.ts'
import type { Log } from '../core/ports/log-interface.ts'
import { waitWithTimeout } from '../core/async/wait-with-timeout.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { expireUnusedTurns } from '../gateway/record/expire-unused-turns.ts'
import { resumeDeletions } from '../gateway/record/resume-deletions.ts'
import { createWorkersMediaFetcher } from '../media/loading/workers-media-fetcher.ts'
import { createApp } from '../server/app.ts'
import { renderError } from '../server/render-error.ts'
import { createWebHttpExchange } from '../server/runtime/web-http-exchange.ts'
import { readSettings, type Settings } from '../settings/read-settings.ts'
import { divideCacheMemory } from '../store/cache-sizes.ts'
import { openD1, type D1Binding } from '../store/database/d1-engine.ts'
import type { Engine } from '../store/database/engine-interface.ts'
import { rejectOtherD1Schema } from '../store/database/schema-version.ts'
import { createFetchTransport } from '../upstream/transport/fetch-transport.ts'
import {
  BYTES_PER_MEGABYTE,
  createDependencies,
  createTurnIdGenerator,
  readUpstreamTimeouts,
} from './create-dependencies.ts'
import { createJsonLog } from './json-log.ts'
import { loadLoggedOldFormatState } from './load-logged-old-format-state.ts'

interface Bindings extends Readonly<Record<string, unknown>> {
  readonly DB: D1Binding
}

interface Gateway {
  readonly ports: GatewayDependencies
  readonly app: ReturnType<typeof createApp>
  readonly runs: WorkerBackgroundRuns
  readonly checkDatabase: () => Promise<GatewayError | null>
}

/**
 * The gateway of each `bindings` object. Thanks to this map, it is created once for each isolate (a
 * JavaScript environment of Workers), not for each request.
 */
const gateways = new WeakMap<Bindings, Gateway | GatewayError>()

/**
 * Limits of one run of the schedule: D1 allows 1000 statements in a run. A page of unused turns takes up to 25
 * statements, and recovering a run about 15.
 */
const MAX_EXPIRY_BATCHES = 25
const MAX_RECOVERED_RUNS = 15

export default {
  async fetch(request: Request, bindings: Bindings, context: ExecutionContext): Promise<Response> {
    const gateway = getGateway(bindings)
    if (gateway instanceof GatewayError) return renderError(gateway, createTurnIdGenerator()())
    const error = await gateway.checkDatabase()
    return error === null
      ? gateway.app.fetch(request, bindings, context)
      : renderError(error, gateway.ports.newTurnId())
  },
  /**
   * Deletes turns that were not used for `RETENTION_DAYS`, ends turns whose Workers have ended, and continues unfinished
   * deletions. Runs on the cron schedule of wrangler.toml.
   */
  async scheduled(_: unknown, bindings: Bindings): Promise<void> {
    const gateway = getGateway(bindings)
    if (gateway instanceof GatewayError) throw gateway
    const { ports, runs, checkDatabase } = gateway
    const error = await checkDatabase()
    if (error !== null) throw error
    await runs.recoverOrphans(MAX_RECOVERED_RUNS)
    await expireUnusedTurns(ports, {
      maxBatches: MAX_EXPIRY_BATCHES,
      pauseMs: 0,
    })
    // A long deletion comes last, because it ends at the limit of statements; the next run continues.
    await resumeDeletions(ports).catch((error: unknown) => {
      ports.log('warn', 'deletions-not-resumed', { why: errorMessage(error) })
    })
  },
}

/** For each request. The memory of an isolate is limited to 128 MB, which its requests, caches and code share. */
const REQUEST_MEMORY_MB = 48
const CACHE_MB = 16

/** A request takes about five times as much memory as its body is long. */
const WORKER_DEFAULTS = { MAX_BODY_MB: 9, MEDIA_MEMORY_MB: 24 }

/**
 * Earlier turns of a chat are left out above this size, because a request may not take more than its share of the
 * memory.
 */
const MAX_RECALLED_BYTES = 6_000_000

interface ExecutionContext {
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly passThroughOnException: () => void
  readonly props: unknown
}

/** Returns an error instead of the gateway if a setting is wrong. It names the setting, as the log does. */
function getGateway(bindings: Bindings): Gateway | GatewayError {
  const gateway = gateways.get(bindings) ?? tryCreateGateway(bindings)
  gateways.set(bindings, gateway)
  return gateway
}

function tryCreateGateway(bindings: Bindings): Gateway | GatewayError {
  try {
    return createGateway(bindings)
  } catch (cause) {
    const why = errorMessage(cause)
    createJsonLog((line) => console.log(line), Date.now)('error', 'start-failed', { why })
    return new GatewayError('internal_error', `The gateway cannot start. ${why}`, { cause })
  }
}

function createGateway(bindings: Bindings): Gateway {
  const config = bindings['BACKSTORY_CONFIG']
  const configJson: unknown = typeof config === 'string' ? parseConfig(config) : (config ?? {})
  const settings = readSettings(bindings, configJson, WORKER_DEFAULTS)
  const engine = openD1(bindings.DB)
  const log = createJsonLog((line) => console.log(line), Date.now)
  const { checkDatabase, trustsOldFormats } = createDatabaseCheck(engine, settings, log)
  const ports = createDependencies(settings, {
    engine,
    trustsOldFormats,
    transport: createFetchTransport(readUpstreamTimeouts(settings)),
    fetchMedia: createWorkersMediaFetcher(settings.MEDIA_FETCH_ALLOW),
    replicaId: null,
    newTurnId: createTurnIdGenerator(),
    requestMemoryMb: REQUEST_MEMORY_MB,
    cacheSizes: divideCacheMemory((settings.CACHE_MB ?? CACHE_MB) * BYTES_PER_MEGABYTE, false),
    maxRecalledBytes: MAX_RECALLED_BYTES,
    log,
  })
  const runs = createBackgroundRunsOfRequest(ports)
  const app = createApp(ports, runs, ({ req, executionCtx }) =>
    createWebHttpExchange(req.raw, (work) => executionCtx.waitUntil(work)),
  )
  return { ports, app, runs, checkDatabase }
}

function parseConfig(text: string): unknown {
  try {
    return parseJsonWithComments(text)
  } catch (cause) {
    throw new Error(`BACKSTORY_CONFIG is not JSON: ${errorMessage(cause)}`, { cause })
  }
}

const DATABASE_CHECK_TIMEOUT_MS = 5000

/**
 * Creates `checkDatabase`, which resolves to an error if migrations are missing or if a newer version has migrated the
 * database. It also loads whether old text formats are trusted. After it has succeeded once, it does not read the
 * database again.
 */
function createDatabaseCheck(engine: Engine, settings: Settings, log: Log) {
  let isChecked = false
  let trustsOldFormats = settings.STORAGE_PLAIN_TEXT === 'accept'
  return {
    trustsOldFormats: () => trustsOldFormats,
    checkDatabase: async (): Promise<GatewayError | null> => {
      if (isChecked) return null
      const check = async (): Promise<void> => {
        await rejectOtherD1Schema(engine)
        const state = await loadLoggedOldFormatState(engine, settings, log)
        trustsOldFormats = state.trustsOldFormats
        isChecked = true
      }
      try {
        await waitWithTimeout(check(), DATABASE_CHECK_TIMEOUT_MS)
        return null
      } catch (error) {
        // Requests are answered even if the database does not respond, so only another schema prevents that.
        return error instanceof GatewayError ? error : null
      }
    },
  }
}
