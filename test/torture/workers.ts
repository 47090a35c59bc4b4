/**
 * Kills workerd under load, and takes D1 away from it: what was acknowledged is there afterwards, and answers
 * without the database are complete or have status 503.
 */
import { DatabaseSync } from 'node:sqlite'
import { checkLedger } from './support/check-ledger.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import { createLedger, type Ledger } from './support/ledger.ts'
import { startLoad } from './support/mixed-load.ts'
import type { TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import { createLocalD1, startWorkerGateway, type WorkerGateway } from './support/worker-gateway.ts'

const VARIABLES = {
  MEDIA_FETCH: 'off',
  UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":2}}]',
}

export const workers: TorturePart = {
  name: 'workers',
  description: '`kill -9` of workerd under load, and errors of D1',
  rounds: 3,
  async run({ rounds, isBrief, random, folder, printProgress }) {
    const faults = createFaultList('lost', 'duplicated', 'returned', 'failed')
    const ledger = createLedger('c')
    const database = await createLocalD1(folder)
    let gateway = await startWorkerGateway(folder, VARIABLES)
    let [kills, errors] = [0, 0]
    for (let round = 1; round <= rounds; round += 1) {
      const load = () =>
        startLoad({
          url: gateway.url,
          ledger,
          faults,
          random,
          clients: 4,
          losesDatabase: true,
          isWorker: true,
        })
      const withoutDatabase = load()
      await pause(500)
      await breakD1(database)
      await pause(300)
      await withoutDatabase.stop()
      errors += 1
      await check(gateway, ledger, faults)
      if (!isBrief) {
        const killed = load()
        await pause(300 + random.below(700))
        killed.allowBreaks()
        await gateway.kill()
        await killed.stop()
        kills += 1
        gateway = await startWorkerGateway(folder, VARIABLES)
        await check(gateway, ledger, faults)
      }
      printProgress(
        `round ${round}: ${ledger.acknowledged} acknowledged, ${ledger.rejected} rejected`,
      )
    }
    await gateway.kill()
    return {
      tried: `${kills} kills, ${errors} times without D1, ${ledger.acknowledged.toLocaleString('en')} acknowledged writes`,
      faults,
      figures: `${ledger.rejected.toLocaleString('en')} rejected or not stored`,
    }
  },
}

/** Without this table, nearly every statement of D1 fails. */
async function breakD1(path: string): Promise<void> {
  const database = new DatabaseSync(path, { timeout: 5000 })
  database.exec('alter table turns rename to missing_turns')
  await pause(700)
  database.exec('alter table missing_turns rename to turns')
  database.close()
}

/** On Workers, an answer that had only begun is ended by the hourly task, which does not run here. */
async function check({ url }: WorkerGateway, ledger: Ledger, faults: Faults): Promise<void> {
  const entries = ledger.entries.filter(({ state }) => state !== 'begun' && state !== 'accepted')
  await checkLedger({ url, entries, faults, patienceMs: 5000 })
}
