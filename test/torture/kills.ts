/**
 * Kills gateways under mixed load, restarts them on SQLite or lets another replica take over on Postgres, and
 * compares everything that clients were promised with what the next gateway returns.
 */
import { join } from 'node:path'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { checkChatsAreUnique } from './support/check-ledger.ts'
import type { Faults } from './support/fault-list.ts'
import { killDuringDeletion } from './support/kill-during-deletion.ts'
import type { Ledger } from './support/ledger.ts'
import type { Load } from './support/mixed-load.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import { runOnEngines, runRounds } from './support/run-rounds.ts'

const LEASE_SECONDS = 1

export const kills: TorturePart = {
  name: 'kills',
  description:
    '`kill -9` of the process under mixed load and while it deletes a long thread, on SQLite and on Postgres with two replicas',
  rounds: 25,
  async run(context) {
    const { faults, sum } = await runOnEngines(
      (ledger, list) => killOnSqlite(context, ledger, list),
      (ledger, list) => killOnPostgres(context, ledger, list),
    )
    return {
      tried: `${((context.rounds + countDeletions(context)) * 2).toLocaleString('en')} kills, ${sum(({ acknowledged }) => acknowledged)} acknowledged writes, ${sum(countDeleted)} of them deletions`,
      faults,
    }
  },
}

function countDeleted({ entries }: Ledger): number {
  return entries.filter(({ state }) => state === 'deleted').length
}

async function killOnSqlite(
  context: TortureContext,
  ledger: Ledger,
  faults: Faults,
): Promise<void> {
  const own = environment(`sqlite:${join(context.folder, 'kills.db')}`)
  let last = await runRounds(await startChild(own), {
    ...describeKills(context, ledger, faults),
    async disturb(victim, load, round) {
      await killUnderLoad(victim, load, ledger, context)
      return { next: await startChild(own), done: `kill ${round + 1} on SQLite` }
    },
  })
  const { random } = context
  const databaseUrl = own['DATABASE_URL'] ?? ''
  for (let round = 1; round <= countDeletions(context); round += 1) {
    const getSurvivor = () => startChild(own)
    last = await killDuringDeletion({ victim: last, getSurvivor, databaseUrl, random, faults })
    context.printProgress(`kill ${round} during a deletion on SQLite`)
  }
  await checkChatsAreUnique(last.url, ledger, faults)
  await last.kill('SIGKILL')
}

async function killOnPostgres(
  context: TortureContext,
  ledger: Ledger,
  faults: Faults,
): Promise<void> {
  const database = await context.createDatabase()
  const own = environment(database.url)
  let witness = startChild(own)
  let last = await runRounds(await startChild(own), {
    ...describeKills(context, ledger, faults),
    async disturb(victim, load, round) {
      await killUnderLoad(victim, load, ledger, context)
      // The gateway that took over is checked, and killed next.
      const next = await witness
      witness = startChild(own)
      return { next, done: `kill ${round + 1} on Postgres` }
    },
  })
  const { random } = context
  const databaseUrl = database.url
  for (let round = 1; round <= countDeletions(context); round += 1) {
    const survivor = await witness
    const getSurvivor = async () => survivor
    await killDuringDeletion({ victim: last, getSurvivor, databaseUrl, random, faults })
    last = survivor
    witness = startChild(own)
    context.printProgress(`kill ${round} during a deletion on Postgres`)
  }
  await checkChatsAreUnique(last.url, ledger, faults)
  await Promise.all([last.kill('SIGKILL'), (await witness).kill('SIGKILL')])
  await database.drop()
}

function describeKills(context: TortureContext, ledger: Ledger, faults: Faults) {
  return { context, ledger, faults, load: { clients: 8 }, check: { patienceMs: PATIENCE_MS } }
}

/** One of five kills interrupts the deletion of a long thread. */
function countDeletions({ rounds }: TortureContext): number {
  return Math.ceil(rounds / 5)
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
  load: Load,
  ledger: Ledger,
  { random }: TortureContext,
): Promise<void> {
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
