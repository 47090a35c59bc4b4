/**
 * Creates those dependencies of the gateway that are the same on Node and on Cloudflare Workers.
 */
import { monotonicFactory } from 'ulid'
import type { Log } from '../core/ports/log-interface.ts'
import { turnIdFromUlid } from '../core/turn-derived-ids.ts'
import { EXPLAIN_HOOKS } from '../explain/explain-hooks.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { createReplicaAndUnclosedTurns } from '../gateway/replica-and-unclosed-turns.ts'
import {
  createBudgetOfEachRequest,
  createMemoryBudget,
  type MemoryBudget,
} from '../gateway/request-memory.ts'
import type { FetchMedia } from '../media/loading/follow-media-redirects.ts'
import { createLoadedBytesLimit } from '../media/loading/loaded-bytes-limit.ts'
import { createMediaLoader } from '../media/loading/media-loader.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { CacheSizes } from '../store/cache-sizes.ts'
import { createStores } from '../store/create-stores.ts'
import type { Engine } from '../store/database/engine-interface.ts'
import { listAccounts } from '../upstream/accounts-and-model-routing.ts'
import { wrapWithDemoTransport } from '../upstream/transport/demo-transport.ts'
import type { Transport } from '../upstream/transport/transport-interface.ts'
import { createUpstreamKnowledge } from '../upstream/upstream-knowledge.ts'
import { createRowEncryption } from './create-row-encryption.ts'
import { removeKeysFromLog } from './remove-keys-from-log.ts'
import { createSecureRandom } from './secure-random-numbers.ts'

export const BYTES_PER_MEGABYTE = 1024 * 1024

export interface RuntimeDependencies {
  readonly engine: Engine
  /** True while stored texts that are not encrypted, or not bound to a user, are trusted. */
  readonly trustsOldFormats: () => boolean
  readonly transport: Transport
  readonly fetchMedia: FetchMedia
  /** Id of this process; null on Workers, where no process lives longer than a request. */
  readonly replicaId: string | null
  readonly newTurnId: () => string
  /** Default of the setting `REQUEST_MEMORY_MB`. */
  readonly requestMemoryMb: number
  readonly cacheSizes: CacheSizes
  /** Maximum size of the turns that recall returns; that of a process if undefined. */
  readonly maxRecalledBytes?: number
  readonly log: Log
}

export function createDependencies(
  settings: Settings,
  runtime: RuntimeDependencies,
): GatewayDependencies {
  const { engine, trustsOldFormats, transport } = runtime
  const { replicaId, newTurnId } = runtime
  const log = removeKeysFromLog(runtime.log, settings)
  const leaseMs = settings.RUN_LEASE_SECONDS * 1000
  return {
    ...createStores(engine, createRowEncryption(settings.STORAGE_KEYS, trustsOldFormats, log), {
      storesUpstreamRequests: settings.EXPLAIN_KEEP === 'on',
      cacheSizes: runtime.cacheSizes,
      maxRecalledBytes: runtime.maxRecalledBytes,
      ...(replicaId === null ? { turnLeaseMs: leaseMs } : { leaseMs }),
    }),
    settings,
    accounts: listAccounts(settings),
    transport: wrapWithDemoTransport(transport),
    upstreamKnowledge: createUpstreamKnowledge(Date.now),
    ...(settings.MEDIA_FETCH === 'off'
      ? {}
      : { mediaLoader: createConfiguredMediaLoader(settings, runtime, log) }),
    replica: createReplicaAndUnclosedTurns(replicaId),
    hooks: EXPLAIN_HOOKS,
    requestMemory: createConfiguredBudget(settings, runtime),
    newTurnId,
    nowMs: Date.now,
    log,
  }
}

/** With at most one API key, all requests belong to one tenant, which may take all of the memory. */
function createConfiguredBudget(
  settings: Settings,
  { replicaId, requestMemoryMb }: Pick<RuntimeDependencies, 'replicaId' | 'requestMemoryMb'>,
): MemoryBudget {
  const totalBytes = (settings.REQUEST_MEMORY_MB ?? requestMemoryMb) * BYTES_PER_MEGABYTE
  // On Workers, the memory of a request whose client has left may never be released.
  if (replicaId === null) return createBudgetOfEachRequest(totalBytes)
  const hasTenants = settings.BACKSTORY_KEYS.length > 1
  return createMemoryBudget({
    totalBytes,
    bytesPerTenant: hasTenants ? totalBytes / 2 : totalBytes,
  })
}

function createConfiguredMediaLoader(
  settings: Settings,
  { fetchMedia, cacheSizes }: Pick<RuntimeDependencies, 'cacheSizes' | 'fetchMedia'>,
  log: Log,
) {
  return createMediaLoader({
    fetchMedia,
    memory: createLoadedBytesLimit(settings.MEDIA_MEMORY_MB * BYTES_PER_MEGABYTE),
    maxBytes: settings.MEDIA_FETCH_MAX_MB * BYTES_PER_MEGABYTE,
    timeoutMs: settings.MEDIA_FETCH_TIMEOUT_SECONDS * 1000,
    maxFaultBytes: cacheSizes.mediaFaults,
    nowMs: Date.now,
    onFault: (fault) => log('info', 'media-not-loaded', { why: fault }),
  })
}

export function createTurnIdGenerator(): () => string {
  const ulid = monotonicFactory(createSecureRandom())
  return () => turnIdFromUlid(ulid())
}

export function readUpstreamTimeouts(settings: Settings) {
  return {
    headersMs: settings.UPSTREAM_HEADERS_TIMEOUT_SECONDS * 1000,
    idleMs: settings.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
  }
}
