/**
 * Creates the gateway from the environment and the configuration file, and serves it on Node's HTTP
 * server.
 */
import { getRequestListener, RequestError, type HttpBindings } from '@hono/node-server'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { createApp } from '../server/app.ts'
import { renderError } from '../server/render-error.ts'
import type { Log } from '../core/ports/log-interface.ts'
import { createNodeHttpExchange } from '../server/runtime/node-http-exchange.ts'
import {
  acceptUpgrades,
  isWebSocketUpgrade,
  createUpgradeHttpExchange,
  type UpgradeBindings,
  type WebSocketConnections,
} from '../server/runtime/node-websocket.ts'
import { answerClientErrors } from '../server/runtime/node-client-errors.ts'
import { limitConnections } from '../server/runtime/node-connection-limit.ts'
import { disconnectStalledClient } from '../server/runtime/node-stalled-client.ts'
import { createUploadWatch, watchRequestBody } from '../server/runtime/node-upload-watch.ts'
import { trackPendingWork } from '../server/runtime/pending-work.ts'
import { expireTurnsHourly } from '../gateway/record/expire-unused-turns.ts'
import { resumeDeletionsRegularly } from '../gateway/record/resume-deletions.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/async/wait-with-timeout.ts'
import { createNodeDependencies } from './create-node-dependencies.ts'
import { openBackgroundRunsOfProcess } from '../background/background-runs.ts'
import type { Settings } from '../settings/read-settings.ts'
import { addRequestId } from '../gateway/request-id.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

export interface RunningServer {
  readonly url: string
  readonly dependencies: GatewayDependencies
  /**
   * Stops accepting requests, gives open streams up to DRAIN_SECONDS to finish, then closes all
   * connections and the database.
   */
  readonly close: () => Promise<void>
}

export async function serveNode(
  environment: Readonly<Record<string, unknown>>,
  configFile: unknown,
  log: Log,
): Promise<RunningServer> {
  const nodeDependencies = await createNodeDependencies(environment, configFile, log)
  const { dependencies, replicaId, closeUpstreamConnections } = nodeDependencies
  const { settings, newTurnId } = dependencies
  const runs = await openBackgroundRunsOfProcess(replicaId, dependencies).catch(
    async (error: unknown) => {
      // The open database would keep a process alive that does not serve.
      await nodeDependencies.close()
      throw error
    },
  )
  const pendingWork = trackPendingWork()
  const app = createApp(dependencies, runs, ({ env }) => {
    const bindings = env as HttpBindings | UpgradeBindings
    return 'upgrade' in bindings
      ? createUpgradeHttpExchange(bindings, pendingWork)
      : createNodeHttpExchange(bindings, pendingWork)
  })
  const listener = getRequestListener(app.fetch, {
    errorHandler(error) {
      const turnId = newTurnId()
      return renderError(convertListenerError(error, addRequestId(log, turnId)), turnId)
    },
  })
  const minBytesPerSecond = settings.BODY_MIN_KB_PER_SECOND * 1024
  const uploads = createUploadWatch({
    maxSilenceMs: settings.BODY_TIMEOUT_SECONDS * 1000,
    minBytesPerSecond,
  })
  const server = createServer(
    {
      keepAliveTimeout: settings.KEEP_ALIVE_SECONDS * 1000,
      headersTimeout: settings.HEADER_TIMEOUT_SECONDS * 1000,
      // Off, because it would also end long uploads that make progress. `uploads` ends slow ones.
      requestTimeout: 0,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    (incoming, outgoing) => {
      watchRequestBody(incoming, uploads)
      disconnectStalledClient(outgoing, { maxStallMs: MAX_STALL_MS, minBytesPerSecond })
      void listener(incoming, outgoing)
    },
  )
  limitConnections(server, settings.MAX_CONNECTIONS, log)
  answerClientErrors(server, newTurnId)
  const upgrades = acceptUpgrades(server, {
    handle: (request, bindings) => app.fetch(request, bindings),
    maxMessageBytes: settings.MAX_BODY_MB * 1024 * 1024,
    pingMs: settings.HEARTBEAT_SECONDS * 1000,
    uploads,
    log,
    newTurnId,
  })
  await listen(server, settings).catch(async (error: unknown) => {
    await runs.shutDown(0)
    await runs.releaseLease()
    await nodeDependencies.close()
    throw error
  })
  const stopExpiring = expireTurnsHourly(dependencies)
  const stopResuming = resumeDeletionsRegularly(dependencies)
  return {
    url: getUrl(server),
    dependencies,
    async close() {
      stopExpiring()
      stopResuming()
      const drainMs = settings.DRAIN_SECONDS * 1000
      const remaining = Promise.all([drain(server, upgrades), pendingWork.whenIdle()])
      await Promise.all([
        finishOrAbort(remaining, drainMs, closeUpstreamConnections, () => {
          server.closeAllConnections()
          upgrades.terminate()
        }),
        // Background runs end before the time limit of the clients (`drainMs`), so that clients
        // still receive the end of their runs.
        runs.shutDown(drainMs * 0.9),
      ])
      await runs.releaseLease()
      await nodeDependencies.close()
    },
  }
}

/** Time after which a client is disconnected that does not read the end of its answer. */
const MAX_STALL_MS = 60_000

/** Time between two checks for connections whose headers take too long. */
const CONNECTION_CHECK_MS = 500

/** Converts an error of a request that did not reach the app, e.g. because its path has a backslash. */
function convertListenerError(error: unknown, log: Log): GatewayError {
  if (!(error instanceof RequestError)) return convertUnexpectedError(error, log)
  return new GatewayError(
    'invalid_value',
    'The path or the host of this request is not valid. Send it without backslashes, and to a host without user name and password.',
  )
}

/** What to do about an error of the system when the server starts to listen. */
const LISTEN_ADVICE: Readonly<
  Record<string, (settings: Pick<Settings, 'HOST' | 'PORT'>) => string>
> = {
  EADDRINUSE: ({ PORT }) =>
    `Port ${PORT} is taken. Set PORT to another one, or PORT=0 for a free one.`,
  EACCES: ({ PORT }) =>
    `This user may not listen on port ${PORT}. Set PORT to one above 1023, e.g. PORT=8787.`,
  EADDRNOTAVAIL: describeWrongHost,
  EAI_AGAIN: describeWrongHost,
  ENOTFOUND: describeWrongHost,
}

function describeWrongHost({ HOST }: Pick<Settings, 'HOST'>): string {
  return `HOST is "${HOST}", which is no address of this machine. Set HOST=127.0.0.1 for clients on this machine, or HOST=0.0.0.0 for all.`
}

function listen(server: Server, { PORT, HOST }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = LISTEN_ADVICE[error.code ?? '']?.({ PORT, HOST })
      reject(advice === undefined ? error : new Error(advice, { cause: error }))
    })
    server.listen(PORT, HOST, resolve)
  })
}

function getUrl(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/**
 * Time for each of the two steps of an abort. In the first, clients receive the end of their
 * answers and the store saves these; in the second, client connections are closed.
 */
const ABORT_STEP_MS = 500

/**
 * Waits until the remaining work is done, but at most `drainMs`. Then closes upstream connections,
 * and if that does not end the work, client connections.
 */
async function finishOrAbort(
  remaining: Promise<unknown>,
  drainMs: number,
  closeUpstreamConnections: () => Promise<void>,
  closeClientConnections: () => void,
): Promise<void> {
  if ((await waitWithTimeout(remaining, drainMs)) !== TIMED_OUT) return
  void closeUpstreamConnections()
  if ((await waitWithTimeout(remaining, ABORT_STEP_MS)) !== TIMED_OUT) return
  closeClientConnections()
  await waitWithTimeout(remaining, ABORT_STEP_MS)
}

/**
 * Stops accepting connections and closes each one after its last answer. Resolves when all are
 * closed.
 */
async function drain(server: Server, upgrades: WebSocketConnections): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  upgrades.closeAfterAnswers()
  // Idle connections are closed repeatedly, because a keep-alive connection stays open after its
  // last answer.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  await closed
  clearInterval(idle)
  upgrades.terminate()
}
