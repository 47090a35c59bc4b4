/** A World on Node out of an environment: its settings, its upstreams and its database. */
import { monotonicFactory } from 'ulid'
import { turnIdFromUlid } from '../core/turn-derived-ids.ts'
import type { Log } from '../core/ports/log-interface.ts'
import { EXPLAIN_HOOKS } from '../explain/connect-explanations.ts'
import { waitWithTimeout } from '../core/wait-with-timeout.ts'
import { createMediaLoaderFromSettings, MEGABYTE } from './create-media-loader.ts'
import { createSecureRandom } from './secure-random-numbers.ts'
import { createReplicaIdentity } from '../gateway/replica-identity.ts'
import { readSettings } from '../settings/read-settings.ts'
import { openEngine } from '../store/database/open-engine.ts'
import { createStores } from '../store/create-stores.ts'
import { wrapWithDemoTransport } from '../upstream/transport/demo-transport.ts'
import { createNodeMediaFetcher } from '../media/loading/node-media-fetcher.ts'
import { createUndiciTransport } from '../upstream/transport/undici-transport.ts'
import { listAccounts } from '../upstream/accounts-and-model-routing.ts'
import { createRowEncryption } from './create-row-encryption.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

export interface NodeDependencies {
  readonly dependencies: GatewayDependencies
  /** By this the processes that share the database know this one. */
  readonly replicaId: string
  /** Lets go of the upstreams: what they still answer ends unfinished. */
  readonly closeUpstreamConnections: () => Promise<void>
  /** Lets go of all connections, and of the database when what is on its way there is kept. */
  readonly close: () => Promise<void>
}

export async function createNodeDependencies(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<NodeDependencies> {
  const settings = readSettings(environment, configFile)
  const accounts = listAccounts(settings)
  const stores = createStores(
    await openEngine(settings.DATABASE_URL),
    createRowEncryption(settings.STORAGE_KEYS, log),
    { keepsRequests: settings.EXPLAIN_KEEP === 'on' },
  )
  const upstream = createUndiciTransport({
    headersMs: settings.UPSTREAM_HEADERS_TIMEOUT_SECONDS * 1000,
    idleMs: settings.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
  })
  const media = createNodeMediaFetcher({
    allowed: settings.MEDIA_FETCH_ALLOW,
    maxBytes: settings.MEDIA_FETCH_MAX_MB * MEGABYTE,
  })
  const ulid = monotonicFactory(createSecureRandom())
  const newTurnId = () => turnIdFromUlid(ulid())
  const replicaId = newTurnId()
  return {
    replicaId,
    dependencies: {
      ...stores,
      settings,
      accounts,
      transport: wrapWithDemoTransport(upstream.transport),
      ...createMediaLoaderFromSettings(settings, media.fetchMedia, log),
      replica: createReplicaIdentity(replicaId),
      hooks: EXPLAIN_HOOKS,
      newTurnId,
      nowMs: Date.now,
      log,
    },
    closeUpstreamConnections: async () =>
      void (await Promise.all([upstream.close(), media.close()])),
    async close() {
      await Promise.all([upstream.close(), media.close()])
      // A database that does not answer is not waited for.
      await waitWithTimeout(stores.requests.allKept(), KEPT_WITHIN_MS)
      await stores.store.close()
    },
  }
}

const KEPT_WITHIN_MS = 1000
