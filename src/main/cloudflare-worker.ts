/** The gateway on Cloudflare Workers: the same app over D1, `fetch` and Web Streams. */
import { monotonicFactory } from 'ulid'
import { listAccounts } from '../upstream/accounts-and-model-routing.ts'
import { createApp } from '../server/app.ts'
import { EXPLAIN_HOOKS } from '../explain/connect-explanations.ts'
import { turnIdFromUlid } from '../core/turn-derived-ids.ts'
import { createWebHttpExchange } from '../server/runtime/web-http-exchange.ts'
import { expireUnusedTurns } from '../gateway/record/expire-unused-turns.ts'
import { createJsonLog } from './json-log.ts'
import { createMediaLoaderFromSettings } from './create-media-loader.ts'
import { createSecureRandom } from './secure-random-numbers.ts'
import { createReplicaIdentity } from '../gateway/replica-identity.ts'
import { readSettings } from '../settings/read-settings.ts'
import { createRequestRuns } from '../background/background-runs.ts'
import { openD1, type D1Binding } from '../store/database/d1-engine.ts'
import { createStores } from '../store/create-stores.ts'
import { wrapWithDemoTransport } from '../upstream/transport/demo-transport.ts'
import { createWorkersMediaFetcher } from '../media/loading/workers-media-fetcher.ts'
import { createFetchTransport } from '../upstream/transport/fetch-transport.ts'
import { createRowEncryption } from './create-row-encryption.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

interface Bindings extends Readonly<Record<string, unknown>> {
  readonly DB: D1Binding
}

interface Gateway {
  readonly world: GatewayDependencies
  readonly app: ReturnType<typeof createApp>
}

/** One for each set of bindings, that is one for the life of an isolate. */
const gateways = new WeakMap<Bindings, Gateway>()

/** A round is three statements of the thousand that one event may ask. */
const ROUNDS = 100

export default {
  fetch(
    request: Request,
    bindings: Bindings,
    context: ExecutionContext,
  ): Response | Promise<Response> {
    return gatewayOf(bindings).app.fetch(request, bindings, context)
  },
  /** By the crons of wrangler.toml. */
  async scheduled(_: unknown, bindings: Bindings): Promise<void> {
    await expireUnusedTurns(gatewayOf(bindings).world, { rounds: ROUNDS, restMs: 0 })
  },
}

interface ExecutionContext {
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly passThroughOnException: () => void
  readonly props: unknown
}

function gatewayOf(bindings: Bindings): Gateway {
  const gateway = gateways.get(bindings) ?? build(bindings)
  gateways.set(bindings, gateway)
  return gateway
}

function build(bindings: Bindings): Gateway {
  const config = bindings['BACKSTORY_CONFIG']
  const settings = readSettings(
    bindings,
    typeof config === 'string' ? JSON.parse(config) : (config ?? {}),
  )
  const ulid = monotonicFactory(createSecureRandom())
  const log = createJsonLog((line) => console.log(line), Date.now)
  const world: GatewayDependencies = {
    ...createStores(openD1(bindings.DB), createRowEncryption(settings.STORAGE_KEYS, log), {
      keepsRequests: settings.EXPLAIN_KEEP === 'on',
    }),
    settings,
    accounts: listAccounts(settings),
    transport: wrapWithDemoTransport(
      createFetchTransport({
        headersMs: settings.UPSTREAM_HEADERS_TIMEOUT_SECONDS * 1000,
        idleMs: settings.UPSTREAM_IDLE_TIMEOUT_SECONDS * 1000,
      }),
    ),
    ...createMediaLoaderFromSettings(
      settings,
      createWorkersMediaFetcher(settings.MEDIA_FETCH_ALLOW),
      log,
    ),
    replica: createReplicaIdentity(null),
    hooks: EXPLAIN_HOOKS,
    newTurnId: () => turnIdFromUlid(ulid()),
    nowMs: Date.now,
    log,
  }
  const app = createApp(world, createRequestRuns(world), ({ req, executionCtx }) =>
    createWebHttpExchange(req.raw, (work) => executionCtx.waitUntil(work)),
  )
  return { world, app }
}
