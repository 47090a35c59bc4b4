/**
 * Checks that gateways sent what they report: every stored answer has a request, and an upstream received it.
 * `startGateway` does this for each gateway of a test, and `HOSTS` from the database of each Worker.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waitWithTimeout, TIMED_OUT } from '../../src/core/async/wait-with-timeout.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { decodeColumnText } from '../../src/store/database/encode-column-text.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import type { SentRequest } from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { listAccounts } from '../../src/upstream/accounts-and-model-routing.ts'
import { createRowEncryption } from '../../src/main/create-row-encryption.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { RECEIVED_REQUESTS } from './received-requests.ts'
import { findExplanationFaults } from './compare-explanations.ts'
import { loadStoredRequests, type StoredRequests } from './load-stored-requests.ts'
import { decodeBodyText } from '../../src/upstream/transport/decode-body-text.ts'
import { allReceivedRequests } from './upstream.ts'

export interface Watch {
  /** Returns violations in the answers since the last call. Unfinished answers are checked next time. */
  readonly findFaults: () => Promise<readonly string[]>
  /** Like `look` for the last time: requests that cannot be read are violations too. */
  readonly findLastFaults: () => Promise<readonly string[]>
}

/** `unexplained` is the reason why stored answers may lack their requests. */
export function watchExplanations(world: GatewayDependencies, unexplained?: string): Watch {
  const accounts = namesOf(world.accounts)
  const isExcused = unexplained !== undefined || world.settings.EXPLAIN_KEEP === 'off'
  const answers = recordAnswers(world)
  recordDemoRequests(world)

  const lookFor = async (patienceMs: number) => {
    const faults: string[] = []
    const unknown: string[] = []
    const lookAt = async ([id, owner]: readonly [string, Caller]): Promise<void> => {
      const kept = loadStoredRequests({ id, owner }, world, accounts).catch(
        (): 'unknown' => 'unknown',
      )
      const found = await waitWithTimeout(kept, patienceMs)
      if (found === TIMED_OUT || found === 'unknown')
        return void unknown.push(`${id} cannot be read`)
      // A concurrent check has matched this answer already.
      if (found === 'under way' || !answers.delete(id)) return
      if (!(isExcused && found === 'not kept')) faults.push(...faultsOf(id, found))
    }
    await Promise.all([...answers].map(lookAt))
    return { faults, unknown: isExcused ? [] : unknown }
  }
  return {
    findFaults: async () => (await lookFor(SHORT_WAIT_MS)).faults,
    async findLastFaults() {
      const { faults, unknown } = await lookFor(isExcused ? SHORT_WAIT_MS : LONG_WAIT_MS)
      return [...faults, ...unknown]
    },
  }
}

const SHORT_WAIT_MS = 500
const LONG_WAIT_MS = 5000

/**
 * Checks a gateway of which only the database is accessible. Requests to the demo model stay inside the
 * gateway, so they are skipped.
 */
export async function findFaultsInDatabase(
  engine: Engine,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const settings = readSettings(environment)
  const accounts = namesOf(listAccounts(settings))
  const vault = createRowEncryption(
    settings.STORAGE_KEYS,
    () => true,
    () => undefined,
  )
  const stores = createStores(engine, vault)
  const [rows = []] = await engine.read([TURNS])
  const faults: string[] = []
  for (const row of rows as readonly TurnRow[]) {
    const [id, tenant] = [decodeColumnText(row.id), decodeColumnText(row.tenant)]
    const answer = { id, owner: { tenant, user: row.user_id && decodeColumnText(row.user_id) } }
    let kept = await loadStoredRequests(answer, stores, accounts)
    // A Worker may store the request after its client has the answer.
    for (let tries = 0; kept === 'not kept' && tries < 20; tries += 1) {
      await pause(50)
      kept = await loadStoredRequests(answer, stores, accounts)
    }
    if (kept === 'not kept' && settings.EXPLAIN_KEEP === 'off') continue
    faults.push(...faultsOf(id, typeof kept === 'string' ? kept : kept.filter(hasLeft)))
  }
  return faults
}

const TURNS = { name: null, sql: 'select id, tenant, user_id from turns', parameters: [] }

interface TurnRow {
  readonly id: string
  readonly tenant: string
  readonly user_id: string | null
}

function faultsOf(id: string, kept: StoredRequests): readonly string[] {
  if (kept === 'not kept') return [`${id} is stored without its request`]
  if (typeof kept === 'string') return []
  return kept
    .flatMap((sent) =>
      sent === null ? ['lacks a round'] : findExplanationFaults(sent, RECEIVED_REQUESTS),
    )
    .map((fault) => `${id} ${fault}`)
}

/** Records the answers that a gateway starts to store, by turn id. */
function recordAnswers({ store, runs }: GatewayDependencies): Map<string, Caller> {
  const answers = new Map<string, Caller>()
  const noted = ({ id, tenant, user }: NewTurn): void => void answers.set(id, { tenant, user })
  const { openTurn } = store
  Object.assign(store, { openTurn: (turn: NewTurn) => (noted(turn), openTurn(turn)) })
  const { openRun } = runs
  const opened: typeof openRun = (turn, opening) => (noted(turn), openRun(turn, opening))
  Object.assign(runs, { openRun: opened })
  return answers
}

/** The demo model runs inside the gateway: a request counts as received when it is handed over. */
function recordDemoRequests(world: GatewayDependencies): void {
  const { transport } = world
  const witnessed: typeof transport = (request) => {
    const { protocol, pathname, search } = new URL(request.url)
    const text = decodeBodyText(request)
    if (protocol === DEMO) allReceivedRequests.push({ path: pathname + search, text })
    return transport(request)
  }
  Object.assign(world, { transport: witnessed })
}

function hasLeft(sent: SentRequest | null): boolean {
  if (sent === null) return true
  const { upstream } = JSON.parse(sent.about) as { upstream: { url: string } }
  return new URL(upstream.url).protocol !== DEMO
}

const DEMO = 'demo:'

function namesOf(accounts: GatewayDependencies['accounts']): ReadonlySet<string> {
  return new Set(accounts.map(({ name }) => name))
}
