/** A World on Node out of an environment: its settings, its upstreams and its database. */
import { monotonicFactory } from 'ulid'
import { turnIdFromUlid } from './conversation/ids.ts'
import type { Log } from './conversation/log.ts'
import { EXPLAIN_HOOKS } from './explain/explain-hooks.ts'
import { inTime } from './in-time.ts'
import { loaderFor, MEGABYTE } from './media/gateway-media.ts'
import { randomNumbers } from './random-numbers.ts'
import { replica } from './replica.ts'
import { readSettings } from './settings.ts'
import { openEngine } from './store/open-store.ts'
import { createStores } from './store/stores.ts'
import { withDemo } from './transport/demo-transport.ts'
import { nodeMedia } from './transport/node-media.ts'
import { undiciTransport } from './transport/undici-transport.ts'
import { accountsFrom } from './upstream/accounts.ts'
import { vaultFor } from './vault-for.ts'
import type { World } from './world.ts'

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
