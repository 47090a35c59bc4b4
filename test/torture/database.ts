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
import type { Faults } from './support/fault-list.ts'
import type { Ledger } from './support/ledger.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import { runOnEngines, runRounds, type Disturbance } from './support/run-rounds.ts'

export const database: TorturePart = {
  name: 'database',
  description:
    'database faults under load: SQLite full, read-only or locked; Postgres killed, silent or disconnected',
  rounds: 10,
  async run(context) {
    const { faults, sum } = await runOnEngines(
      (ledger, list) => disturbSqlite(context, ledger, list),
      (ledger, list) => disturbPostgres(context, ledger, list),
    )
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

async function disturbSqlite(
  context: TortureContext,
  ledger: Ledger,
  faults: Faults,
): Promise<void> {
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
  await disturb(gateway, all, { context, ledger, faults, mayForgetOpen: false })
}

async function disturbPostgres(
  context: TortureContext,
  ledger: Ledger,
  faults: Faults,
): Promise<void> {
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
  const mayForgetOpen = crashPostgres !== null
  await disturb(gateway, all, { context, ledger, faults, mayForgetOpen })
  await proxy.close()
  await drop()
}

interface DatabaseDisturbance extends Pick<Disturbance, 'context' | 'faults' | 'ledger'> {
  readonly mayForgetOpen: boolean
}

async function disturb(
  gateway: ChildGateway,
  all: readonly DatabaseFault[],
  { mayForgetOpen, ...frame }: DatabaseDisturbance,
): Promise<void> {
  await runRounds(gateway, {
    ...frame,
    load: { clients: 6, losesDatabase: true },
    check: { patienceMs: 30_000, mayForgetOpen },
    async disturb(_, load, round) {
      const fault = all[round % all.length] as DatabaseFault
      await pause(150)
      await fault.strike()
      await pause(150)
      await load.stop()
      return { next: gateway, done: fault.name }
    },
  })
  checkLog(gateway, frame.faults)
  await gateway.kill('SIGKILL')
}
