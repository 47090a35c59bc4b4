/** A World on Node out of an environment: its settings, its upstreams and its database. */
import { monotonicFactory } from 'ulid'
import { turnIdFromUlid } from '../core/turn-derived-ids.ts'
import type { Log } from '../core/ports/log-interface.ts'
import { EXPLAIN_HOOKS } from '../explain/connect-explanations.ts'
import { inTime } from '../core/wait-with-timeout.ts'
import { loaderFor, MEGABYTE } from './create-media-loader.ts'
import { randomNumbers } from './secure-random-numbers.ts'
import { replica } from '../gateway/replica-identity.ts'
import { readSettings } from '../settings/read-settings.ts'
import { openEngine } from '../store/database/open-engine.ts'
import { createStores } from '../store/create-stores.ts'
import { withDemo } from '../upstream/transport/demo-transport.ts'
import { nodeMedia } from '../media/loading/node-media-fetcher.ts'
import { undiciTransport } from '../upstream/transport/undici-transport.ts'
import { accountsFrom } from '../upstream/accounts-and-model-routing.ts'
import { vaultFor } from './create-row-encryption.ts'
import type { World } from '../gateway/dependencies-interface.ts'

export interface OpenWorld {
  readonly world: World
  /** By this the processes that share the database know this one. */
  readonly replicaId: string
  /** Lets go of the upstreams: what they still answer ends unfinished. */
  readonly hangUp: () => Promise<void>
  /** Lets go of all connections, and of the database when what is on its way there is kept. */
  readonly close: () => Promise<void>
}

export async function openWorld(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<OpenWorld> {
  const settings = readSettings(environment, configFile)
  const accounts = accountsFrom(settings)
  const stores = createStores(
    await openEngine(settings.DATABASE_URL),
    vaultFor(settings.STORAGE_KEYS, log),
    { keepsRequests: settings.EXPLAIN_KEEP === 'on' },
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
  return {
    replicaId,
    world: {
      ...stores,
      settings,
      accounts,
      transport: withDemo(upstream.transport),
      ...loaderFor(settings, media.fetchMedia, log),
      replica: replica(replicaId),
      hooks: EXPLAIN_HOOKS,
      newTurnId,
      nowMs: Date.now,
      log,
    },
    hangUp: async () => void (await Promise.all([upstream.close(), media.close()])),
    async close() {
      await Promise.all([upstream.close(), media.close()])
      // A database that does not answer is not waited for.
      await inTime(stores.requests.allKept(), KEPT_WITHIN_MS)
      await stores.store.close()
    },
  }
}

const KEPT_WITHIN_MS = 1000
