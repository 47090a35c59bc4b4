/**
 * Holds gateways to what they say of their answers: of every answer that is stored there is a request,
 * and that request arrived at an upstream. `startGateway` watches each gateway of a test, and `HOSTS`
 * looks into the database of each Worker, so that no test has to.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waitWithTimeout, TIMED_OUT } from '../../src/core/wait-with-timeout.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { decodeColumn } from '../../src/store/database/escape-column-text.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import type { SentRequest } from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import type { NewTurn } from '../../src/store/turns/turn-store-interface.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { listAccounts } from '../../src/upstream/accounts-and-model-routing.ts'
import { createRowEncryption } from '../../src/main/create-row-encryption.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { ARRIVED } from './arrived.ts'
import { explainedFaults } from './explained.ts'
import { keptFor, type Kept } from './kept-for.ts'
import { everReceived } from './upstream.ts'

export interface Watch {
  /** What is wrong with the answers since the last look. Those under way are looked at the next time. */
  readonly look: () => Promise<readonly string[]>
  /** The same when there is no next time: what cannot be read is a fault. */
  readonly lookAtLast: () => Promise<readonly string[]>
}

/** `unexplained` is why answers may be stored of which it cannot be told what was sent for them. */
export function watchExplained(world: GatewayDependencies, unexplained?: string): Watch {
  const accounts = namesOf(world.accounts)
  const isExcused = unexplained !== undefined || world.settings.EXPLAIN_KEEP === 'off'
  const answers = noteAnswers(world)
  witnessDemo(world)

  const lookFor = async (patienceMs: number) => {
    const faults: string[] = []
    const unknown: string[] = []
    const lookAt = async ([id, owner]: readonly [string, Caller]): Promise<void> => {
      const kept = keptFor({ id, owner }, world, accounts).catch((): 'unknown' => 'unknown')
      const found = await waitWithTimeout(kept, patienceMs)
      if (found === TIMED_OUT || found === 'unknown')
        return void unknown.push(`${id} cannot be read`)
      // What another look has seen meanwhile has its arrival already.
      if (found === 'under way' || !answers.delete(id)) return
      if (!(isExcused && found === 'not kept')) faults.push(...faultsOf(id, found))
    }
    await Promise.all([...answers].map(lookAt))
    return { faults, unknown: isExcused ? [] : unknown }
  }
  return {
    look: async () => (await lookFor(BRIEFLY_MS)).faults,
    async lookAtLast() {
      const { faults, unknown } = await lookFor(isExcused ? BRIEFLY_MS : PATIENCE_MS)
      return [...faults, ...unknown]
    },
  }
}

const BRIEFLY_MS = 500
const PATIENCE_MS = 5000

/**
 * The same for a gateway of which only the database can be reached. What it asks the demo does not
 * leave it, so that nobody can say what has arrived there.
 */
export async function storedFaults(
  engine: Engine,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const settings = readSettings(environment)
  const accounts = namesOf(listAccounts(settings))
  const vault = createRowEncryption(settings.STORAGE_KEYS, () => undefined)
  const stores = createStores(engine, vault)
  const [rows = []] = await engine.read([TURNS])
  const faults: string[] = []
  for (const row of rows as readonly TurnRow[]) {
    const [id, tenant] = [decodeColumn(row.id), decodeColumn(row.tenant)]
    const answer = { id, owner: { tenant, user: row.user_id && decodeColumn(row.user_id) } }
    let kept = await keptFor(answer, stores, accounts)
    // A Worker writes it while its client has its answer already.
    for (let tries = 0; kept === 'not kept' && tries < 20; tries += 1) {
      await pause(50)
      kept = await keptFor(answer, stores, accounts)
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

function faultsOf(id: string, kept: Kept): readonly string[] {
  if (kept === 'not kept') return [`${id} is stored without its request`]
  if (typeof kept === 'string') return []
  return kept
    .flatMap((sent) => (sent === null ? ['lacks a round'] : explainedFaults(sent, ARRIVED)))
    .map((fault) => `${id} ${fault}`)
}

/** The answers that a gateway has begun to store, by their turns. */
function noteAnswers({ store, runs }: GatewayDependencies): Map<string, Caller> {
  const answers = new Map<string, Caller>()
  const noted = ({ id, tenant, user }: NewTurn): void => void answers.set(id, { tenant, user })
  const { openTurn } = store
  Object.assign(store, { openTurn: (turn: NewTurn) => (noted(turn), openTurn(turn)) })
  const { openRun } = runs
  const opened: typeof openRun = (turn, opening) => (noted(turn), openRun(turn, opening))
  Object.assign(runs, { openRun: opened })
  return answers
}

/** The demo answers within the gateway: what is handed to it has arrived. */
function witnessDemo(world: GatewayDependencies): void {
  const { transport } = world
  const witnessed: typeof transport = (request) => {
    const { protocol, pathname, search } = new URL(request.url)
    const text = String(request.body)
    if (protocol === DEMO) everReceived.push({ path: pathname + search, text })
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
