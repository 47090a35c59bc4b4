/**
 * Leaves the house in order when a process stops: runs are given some time to finish; what has not
 * begun by then is left for others to run, at once; everything else ends as failed, and says why.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { endRunEarly } from './end-run-early.ts'
import type { ProcessActiveRuns } from './active-runs-and-lease.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import { GATEWAY_STOPPED, canRunAgain } from './restart-or-fail-orphaned-run.ts'
import type { RunLog } from './event-log/run-log.ts'

export async function shutDownRuns(
  home: ProcessActiveRuns,
  graceMs: number,
  world: GatewayDependencies,
): Promise<void> {
  await waitFor(home.all(), graceMs)
  // All at once: whose upstream breaks off while others are ended would have failed of that.
  await Promise.all(home.all().map((log) => end(log, world)))
}

/** Not before the last turn of this process is closed, or somebody else ends it as left behind. */
export async function releaseRunLease(
  home: ProcessActiveRuns,
  world: GatewayDependencies,
): Promise<void> {
  try {
    await home.lease.giveBack()
  } catch (error) {
    // It runs out by itself.
    world.log('warn', 'lease-not-given-back', { why: errorMessage(error) })
  }
}

async function waitFor(logs: readonly RunLog[], graceMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))
  await Promise.race([Promise.all(logs.map(({ over }) => over)), late])
  clearTimeout(timer)
}

async function end({ hold, giveUp }: RunLog, world: GatewayDependencies): Promise<void> {
  try {
    await giveUp()
    const run = await readRun(hold, hold.turnId, world.runs)
    if (run === null || (await canRunAgain(run, world))) return
    await endRunEarly(hold, GATEWAY_STOPPED, world)
  } catch (error) {
    world.log('warn', 'run-not-ended', { turn: hold.turnId, why: errorMessage(error) })
  }
}
