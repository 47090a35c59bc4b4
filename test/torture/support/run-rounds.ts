/**
 * Runs the parts that disturb a gateway under mixed load, in rounds, on SQLite and on Postgres at once. After each
 * round, everything that clients were promised is compared with what a gateway returns.
 */
import type { ChildGateway } from '../../support/child-gateway.ts'
import { checkLedger } from './check-ledger.ts'
import { createFaultList, type Faults } from './fault-list.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { startLoad, type Load, type LoadOptions } from './mixed-load.ts'
import type { TortureContext } from './part-interface.ts'

export interface Disturbance {
  readonly context: TortureContext
  readonly faults: Faults
  readonly ledger: Ledger
  readonly load: Pick<LoadOptions, 'clients' | 'losesDatabase'>
  readonly check: { readonly patienceMs: number; readonly mayForgetOpen?: boolean }
  /**
   * Disturbs the gateway under load, and stops the load. Resolves to the gateway that is checked and gets the load of
   * the next round, and to the text that is printed.
   */
  readonly disturb: (
    gateway: ChildGateway,
    load: Load,
    round: number,
  ) => Promise<{ readonly next: ChildGateway; readonly done: string }>
}

/** Resolves to the gateway of the last round. */
export async function runRounds(
  first: ChildGateway,
  { context, faults, ledger, load, check, disturb }: Disturbance,
): Promise<ChildGateway> {
  let gateway = first
  for (let round = 0; round < context.rounds; round += 1) {
    const { length } = ledger.entries
    const { url } = gateway
    const running = startLoad({ url, ledger, faults, random: context.random, ...load })
    const { next, done } = await disturb(gateway, running, round)
    gateway = next
    await checkLedger({ url: next.url, entries: ledger.entries.slice(length), faults, ...check })
    context.printProgress(
      `${done}: ${ledger.acknowledged} acknowledged, ${ledger.rejected} rejected`,
    )
  }
  await checkLedger({ url: gateway.url, entries: ledger.entries, faults, ...check })
  return gateway
}

export interface EngineResults {
  readonly faults: Faults
  readonly ledgers: readonly Ledger[]
  /** Adds up a figure of both ledgers, e.g. `4,211`. */
  readonly sum: (count: (ledger: Ledger) => number) => string
}

/** Runs one function for each engine at the same time, each with a ledger of its own. */
export async function runOnEngines(
  ...runs: readonly ((ledger: Ledger, faults: Faults) => Promise<void>)[]
): Promise<EngineResults> {
  const faults = createFaultList('lost', 'duplicated', 'returned', 'unended', 'changed', 'failed')
  const ledgers = runs.map((_, index) => createLedger(`e${index}`))
  await Promise.all(runs.map((run, index) => run(ledgers[index] as Ledger, faults)))
  const sum: EngineResults['sum'] = (count) =>
    ledgers.reduce((total, ledger) => total + count(ledger), 0).toLocaleString('en')
  return { faults, ledgers, sum }
}
