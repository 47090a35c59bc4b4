/**
 * Kills gateways under mixed load, restarts them on SQLite or lets another replica take over on Postgres, and
 * compares everything that clients were promised with what the next gateway returns.
 */
import { join } from 'node:path'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { checkChatsAreUnique, checkLedger } from './support/check-ledger.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import { createLedger, type Ledger } from './support/ledger.ts'
import { startLoad } from './support/mixed-load.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'

const LEASE_SECONDS = 1

export const kills: TorturePart = {
  name: 'kills',
  description:
    '`kill -9` of the process under mixed load, on SQLite and on Postgres with two replicas',
  rounds: 25,
  async run(context) {
    const faults = createFaultList('lost', 'duplicated', 'returned', 'unended', 'changed', 'failed')
    const ledgers = await Promise.all([
      killOnSqlite(context, faults),
      killOnPostgres(context, faults),
    ])
    const acknowledged = ledgers.reduce((sum, ledger) => sum + ledger.acknowledged, 0)
    const deleted = ledgers.flatMap(({ entries }) => entries.filter(isDeleted)).length
    return {
      tried: `${(context.rounds * 2).toLocaleString('en')} kills, ${acknowledged.toLocaleString('en')} acknowledged writes, ${deleted.toLocaleString('en')} of them deletions`,
      faults,
    }
  },
}

function isDeleted({ state }: { readonly state: string }): boolean {
  return state === 'deleted'
}

async function killOnSqlite(context: TortureContext, faults: Faults): Promise<Ledger> {
  const own = environment(`sqlite:${join(context.folder, 'kills.db')}`)
  const ledger = createLedger('s')
  let victim = await startChild(own)
  for (let round = 1; round <= context.rounds; round += 1) {
    const first = ledger.entries.length
    await killUnderLoad(victim, ledger, context, faults)
    victim = await startChild(own)
    await check(victim, ledger, first, faults)
    context.printProgress(`kill ${round} on SQLite: ${ledger.acknowledged} acknowledged`)
  }
  await checkAll(victim, ledger, faults)
  await victim.kill('SIGKILL')
  return ledger
}

async function killOnPostgres(context: TortureContext, faults: Faults): Promise<Ledger> {
  const database = await context.createDatabase()
  const own = environment(database.url)
  const ledger = createLedger('p')
  let [victim, witness] = await Promise.all([startChild(own), startChild(own)])
  for (let round = 1; round <= context.rounds; round += 1) {
    const first = ledger.entries.length
    await killUnderLoad(victim, ledger, context, faults)
    const [fresh] = await Promise.all([startChild(own), check(witness, ledger, first, faults)])
    // The gateway that took over is killed next.
    victim = witness
    witness = fresh
    context.printProgress(`kill ${round} on Postgres: ${ledger.acknowledged} acknowledged`)
  }
  await checkAll(witness, ledger, faults)
  await Promise.all([victim.kill('SIGKILL'), witness.kill('SIGKILL')])
  await database.drop()
  return ledger
}

function environment(databaseUrl: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    RUN_LEASE_SECONDS: String(LEASE_SECONDS),
    UPSTREAMS: JSON.stringify([
      { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 5 } },
    ]),
  }
}

async function killUnderLoad(
  victim: ChildGateway,
  ledger: Ledger,
  { random }: TortureContext,
  faults: Faults,
): Promise<void> {
  const { url } = victim
  const load = startLoad({ url, ledger, faults, random, clients: 8 })
  await waitForWrites(ledger, ledger.acknowledged + 5 + random.below(100))
  await pause(random.below(60))
  load.allowBreaks()
  await victim.kill('SIGKILL')
  await load.stop()
}

/** A gateway that has just started, or a busy machine, takes some time until it acknowledges anything. */
async function waitForWrites(ledger: Ledger, count: number): Promise<void> {
  const deadline = performance.now() + MAX_LOAD_MS
  while (ledger.acknowledged < count && performance.now() < deadline) await pause(5)
}

const MAX_LOAD_MS = 5000

/** Open answers end within one lease; starting and a busy machine take time, too. */
const PATIENCE_MS = LEASE_SECONDS * 1000 * 5

async function check(
  { url }: ChildGateway,
  { entries }: Ledger,
  first: number,
  faults: Faults,
): Promise<void> {
  await checkLedger({ url, entries: entries.slice(first), faults, patienceMs: PATIENCE_MS })
}

async function checkAll(gateway: ChildGateway, ledger: Ledger, faults: Faults): Promise<void> {
  await check(gateway, ledger, 0, faults)
  await checkChatsAreUnique(gateway.url, ledger, faults)
}
