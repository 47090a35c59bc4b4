/**
 * Writes hostile bytes to the gateway's port. The process lives, other clients are served meanwhile, no bytes of a
 * client cause an internal error, and only allowed requests reach the upstream.
 */
import { connect } from 'node:net'
import { answerWith } from '../support/answer-formats.ts'
import { startChild } from '../support/child-gateway.ts'
import { startUpstream, type Received } from '../support/upstream.ts'
import { checkLog } from './support/check-log.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import { listHostileRequests, mutate, type HostileBytes } from './support/hostile-bytes.ts'
import { startOtherClients } from './support/other-clients.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { forEachParallel } from './support/pause.ts'

const MUTATIONS_PER_ROUND = 200

export const bytes: TorturePart = {
  name: 'bytes',
  description:
    'hostile bytes on raw sockets: HTTP requests, upgrades and WebSocket frames, as listed and mutated',
  rounds: 10,
  async run(context) {
    const faults = createFaultList('blocked', 'leaked', 'failed')
    const closed = await attack('off', context, faults)
    const open = await attack('hostile', context, faults)
    const slowestMs = Math.max(closed.slowestMs, open.slowestMs)
    return {
      tried: `${(closed.attempts + open.attempts).toLocaleString('en')} connections`,
      faults,
      figures: `${(closed.answers + open.answers).toLocaleString('en')} answers to other clients meanwhile, the slowest after ${Math.round(slowestMs)} ms`,
    }
  },
}

/** `accountPaths`: the key that may use the paths of the upstream's account, or `off`. */
async function attack(
  accountPaths: 'off' | 'hostile',
  { rounds, random, isBrief, printProgress }: TortureContext,
  faults: Faults,
) {
  const upstream = await startUpstream(answerWith({ text: 'Hello.' }))
  const { url: baseUrl } = upstream
  const account = { name: 'c', wire: 'chat', baseUrl, apiKey: UPSTREAM_KEY, models: ['*'] }
  const gateway = await startChild({
    DATABASE_URL: 'sqlite::memory:',
    BACKSTORY_KEYS: 'hostile:sk-hostile,other:sk-other',
    ACCOUNT_PATHS: accountPaths,
    UPSTREAMS: JSON.stringify([DEMO, account]),
  })
  const listed = listHostileRequests()
  const mutations = rounds * (isBrief ? 10 : MUTATIONS_PER_ROUND)
  const attempts = [
    ...listed.filter(() => !isBrief || random.below(10) === 0),
    ...Array.from({ length: mutations }, () => mutate(random.pick(listed), random)),
  ]
  const others = startOtherClients(gateway.url, 'sk-other')
  let done = 0
  await forEachParallel(attempts, 16, async (attempt) => {
    const statuses = await write(gateway.url, attempt)
    const internal = statuses.filter((status) => status >= 500 && status !== 503)
    if (internal.length > 0) faults.add('failed', `${attempt.name}: status ${internal.join()}`)
    done += 1
    if (done % 1000 === 0) printProgress(`${done} of ${attempts.length} connections`)
    if (!gateway.isAlive()) throw new Error(`"${attempt.name}" or one before it ended the process`)
  })
  const { answers, refused, late, slowestMs } = others.takeFigures()
  if (refused > 0) faults.add('blocked', `${refused} requests of other clients were refused`)
  if (late > 0 && !isBrief) faults.add('blocked', `${late} requests of other clients were late`)
  await others.stop()
  for (const received of upstream.received) checkReceived(received, accountPaths, faults)
  checkLog(gateway, faults)
  await gateway.kill('SIGKILL')
  await upstream.close()
  return { attempts: attempts.length, answers, slowestMs }
}

/** Serves the other clients. */
const DEMO = { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 2 } }

const UPSTREAM_KEY = 'sk-upstream'

/** Writes the pieces, and returns the statuses of all answers. */
function write(url: string, { pieces }: HostileBytes): Promise<readonly number[]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    let timer = setTimeout(() => socket.destroy(), MAX_SILENCE_MS)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), MAX_SILENCE_MS)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))
    })
    void (async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return
        socket.write(piece)
        // Otherwise the pieces would arrive as one.
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
  })
}

/** A connection that is silent for so long has got all of its answers. */
const MAX_SILENCE_MS = 150

/** The paths of the upstream that every key may use, as exactly these bytes. */
const ALLOWED_PATHS: ReadonlySet<string> = new Set([
  '/v1/chat/completions',
  '/v1/embeddings',
  '/v1/images/generations',
])

/** Paths that an upstream cannot mistake for others, and that the gateway does not serve itself. */
const ACCOUNT_PATH =
  /^\/v1\/(?!(?:chat|responses|conversations|memory|context|models)(?:\/|$))(?!.*\/\.\.?(?:\/|$))[\w.:~@+=,-]+(?:\/[\w.:~@+=,-]+)*$/i

function checkReceived(
  { method, path, headers }: Received,
  accountPaths: 'off' | 'hostile',
  faults: Faults,
): void {
  const [pathname = '', ...query] = path.split('?')
  // The gateway itself asks for the list of models.
  const isList = method === 'GET' && path === '/v1/models'
  const isCall = method === 'POST' && ALLOWED_PATHS.has(pathname)
  const isAccount = accountPaths === 'hostile' && ACCOUNT_PATH.test(pathname)
  const isSmuggled = pathname.includes('smuggled')
  if (isSmuggled || !(isList || isCall || isAccount)) {
    faults.add('leaked', `${method} ${path} reached the upstream`)
  }
  if (headers.authorization !== `Bearer ${UPSTREAM_KEY}`) {
    faults.add('leaked', `${path} reached the upstream with the key ${headers.authorization}`)
  }
  if (/sk-hostile|sk-other/.test(JSON.stringify(headers) + query.join())) {
    faults.add('leaked', `the key of a client reached the upstream in ${path}`)
  }
}
