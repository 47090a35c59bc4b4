/**
 * Takes the database away from a gateway under mixed load: every answer is complete or has status 503, none has
 * 500, and nothing acknowledged is missing afterwards.
 */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { startBreakableProxy } from '../support/breakable-proxy.ts'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { checkLog } from './support/check-log.ts'
import { checkLedger } from './support/check-ledger.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import { createLedger, type Ledger } from './support/ledger.ts'
import { startLoad } from './support/mixed-load.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'

export const database: TorturePart = {
  name: 'database',
  description:
    'database faults under load: SQLite full, read-only or locked; Postgres killed, silent or disconnected',
  rounds: 10,
  async run(context) {
    const faults = createFaultList('lost', 'duplicated', 'returned', 'unended', 'changed', 'failed')
    const ledgers = await Promise.all([
      disturbSqlite(context, faults),
      disturbPostgres(context, faults),
    ])
    const sum = (count: (ledger: Ledger) => number) =>
      ledgers.reduce((total, ledger) => total + count(ledger), 0).toLocaleString('en')
    return {
      tried: `${context.rounds * 2} faults, ${sum(({ acknowledged }) => acknowledged)} acknowledged writes`,
      faults,
      figures: `${sum(({ rejected }) => rejected)} rejected or not stored`,
    }
  },
}

/** Makes the database fail for a while. It works again when the promise resolves. */
interface DatabaseFault {
  readonly name: string
  readonly strike: () => Promise<void>
}

const SETTINGS = {
  RUN_LEASE_SECONDS: '5',
  UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":2}}]',
}

async function disturbSqlite(context: TortureContext, faults: Faults): Promise<Ledger> {
  const { folder, random, isBrief } = context
  const path = join(folder, 'database.db')
  const faultFile = join(folder, 'fault')
  writeFileSync(faultFile, '')
  const gateway = await startChild(
    { ...SETTINGS, DATABASE_URL: `sqlite:${path}`, TORTURE_FAULT_FILE: faultFile },
    [new URL('support/preload-sqlite.ts', import.meta.url)],
  )
  const failWith = (name: string): DatabaseFault => ({
    name,
    async strike() {
      writeFileSync(faultFile, name)
      await pause(300 + random.below(500))
      writeFileSync(faultFile, '')
    },
  })
  const lock: DatabaseFault = {
    name: 'locked',
    async strike() {
      const other = new DatabaseSync(path)
      other.exec('pragma busy_timeout = 5000; begin immediate')
      // Writers wait for ten seconds before they fail.
      await pause(isBrief ? 300 : random.pick([500, 12_000]))
      other.exec('rollback')
      other.close()
    },
  }
  const all = [failWith('full'), failWith('read-only'), lock]
  return disturb(gateway, all, context, faults, false)
}

async function disturbPostgres(context: TortureContext, faults: Faults): Promise<Ledger> {
  const { createDatabase, crashPostgres, random } = context
  const { url, drop } = await createDatabase()
  const proxy = await startBreakableProxy({ port: Number(new URL(url).port) })
  const behind = new URL(url)
  behind.port = String(proxy.port)
  const gateway = await startChild({ ...SETTINGS, DATABASE_URL: behind.href })
  const breakFor = (name: string, begin: () => unknown): DatabaseFault => ({
    name,
    async strike() {
      await begin()
      await pause(200 + random.below(1500))
      await proxy.repair()
    },
  })
  const all = [
    breakFor('disconnected', proxy.breakConnections),
    breakFor('silent', proxy.stopForwarding),
    ...(crashPostgres === null ? [] : [{ name: 'killed', strike: crashPostgres }]),
  ]
  const ledger = await disturb(gateway, all, context, faults, crashPostgres !== null)
  await proxy.close()
  await drop()
  return ledger
}

async function disturb(
  gateway: ChildGateway,
  all: readonly DatabaseFault[],
  { rounds, random, printProgress }: TortureContext,
  faults: Faults,
  mayForgetOpen: boolean,
): Promise<Ledger> {
  const { url } = gateway
  const ledger = createLedger('d')
  for (let round = 0; round < rounds; round += 1) {
    const fault = all[round % all.length] as DatabaseFault
    const { length } = ledger.entries
    const load = startLoad({ url, ledger, faults, random, clients: 6, losesDatabase: true })
    await pause(150)
    await fault.strike()
    await pause(150)
    await load.stop()
    const entries = ledger.entries.slice(length)
    await checkLedger({ url, entries, faults, patienceMs: 30_000, mayForgetOpen })
    printProgress(`${fault.name}: ${ledger.acknowledged} acknowledged, ${ledger.rejected} rejected`)
  }
  await checkLedger({ url, entries: ledger.entries, faults, patienceMs: 30_000, mayForgetOpen })
  checkLog(gateway, faults)
  await gateway.kill('SIGKILL')
  return ledger
}
