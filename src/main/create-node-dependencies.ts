/** Creates the gateway's dependencies on Node: settings, database, and connections to upstreams. */
import { getHeapStatistics } from 'node:v8'
import type { Log } from '../core/ports/log-interface.ts'
import { waitWithTimeout } from '../core/async/wait-with-timeout.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { createNodeMediaFetcher } from '../media/loading/node-media-fetcher.ts'
import { readSettings } from '../settings/read-settings.ts'
import { divideCacheMemory } from '../store/cache-sizes.ts'
import { openEngine } from '../store/database/open-engine.ts'
import { loadLoggedOldFormatState } from './load-logged-old-format-state.ts'
import { createUndiciTransport } from '../upstream/transport/undici-transport.ts'
import {
  createDependencies,
  createTurnIdGenerator,
  BYTES_PER_MEGABYTE,
  readUpstreamTimeouts,
} from './create-dependencies.ts'

export interface NodeDependencies {
  readonly dependencies: GatewayDependencies
  /** Identifies this process among the replicas that share the database. */
  readonly replicaId: string
  /** Aborts all requests to upstreams and for media, so that the answers in progress end. */
  readonly closeUpstreamConnections: () => Promise<void>
  /**
   * Closes all connections to upstreams, waits at most 1 s for pending writes, and closes the
   * database.
   */
  readonly close: () => Promise<void>
}

export async function createNodeDependencies(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<NodeDependencies> {
  const settings = readSettings(environment, configFile)
  const cacheBytes = (settings.CACHE_MB ?? CACHE_MB) * BYTES_PER_MEGABYTE
  const cacheSizes = divideCacheMemory(cacheBytes, settings.DATABASE_URL.startsWith('sqlite:'))
  const engine = await openEngine(settings.DATABASE_URL, cacheSizes.pages)
  const { trustsOldFormats } = await loadLoggedOldFormatState(engine, settings, log)
  const { transport, close: closeTransport } = createUndiciTransport(readUpstreamTimeouts(settings))
  const { fetchMedia, close: closeMedia } = createNodeMediaFetcher({
    allowed: settings.MEDIA_FETCH_ALLOW,
    maxBytes: settings.MEDIA_FETCH_MAX_MB * BYTES_PER_MEGABYTE,
  })
  const newTurnId = createTurnIdGenerator()
  const replicaId = newTurnId()
  const requestMemoryMb = getHeapStatistics().heap_size_limit / 2 / BYTES_PER_MEGABYTE
  const runtime = { transport, fetchMedia, replicaId, newTurnId, requestMemoryMb, cacheSizes, log }
  const parts = { engine, trustsOldFormats: () => trustsOldFormats, ...runtime }
  const dependencies = createDependencies(settings, parts)
  const closeUpstreamConnections = async (): Promise<void> => {
    await Promise.all([closeTransport(), closeMedia()])
  }
  return {
    replicaId,
    dependencies,
    closeUpstreamConnections,
    async close() {
      await closeUpstreamConnections()
      await waitWithTimeout(dependencies.requests.waitForPendingWrites(), PENDING_WRITES_TIMEOUT_MS)
      await dependencies.store.close()
    },
  }
}

/** Default of the setting `CACHE_MB`. */
const CACHE_MB = 96

const PENDING_WRITES_TIMEOUT_MS = 1000
