/**
 * Ends the runs of a process that stops. Runs first get some time to finish; a run that has not
 * started to answer is left to another replica, and every other run ends as failed.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import { endRunEarly } from './end-run-early.ts'
import type { ProcessActiveRuns } from './active-runs-and-lease.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import { GATEWAY_STOPPED, canRestart } from './restart-or-fail-orphaned-run.ts'
import type { RunLog } from './event-log/run-event-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export async function shutDownRuns(
  home: ProcessActiveRuns,
  graceMs: number,
  ports: Ports<'log' | 'nowMs' | 'runs' | 'store'>,
): Promise<void> {
  await waitForRuns(home.all(), graceMs)
  // Ended concurrently, so that no run fails for another reason (a broken upstream connection) in
  // the meantime.
  await Promise.all(home.all().map((log) => endRun(log, ports)))
}

/**
 * Gives up the lease. Must come after the last turn of this process is closed; otherwise another
 * replica would end it as orphaned.
 */
export async function releaseRunLease(home: ProcessActiveRuns, ports: Ports<'log'>): Promise<void> {
  try {
    await home.lease.giveBack()
  } catch (error) {
    // The lease expires by itself.
    ports.log('warn', 'lease-not-given-back', { why: errorMessage(error) })
  }
}

async function waitForRuns(logs: readonly RunLog[], graceMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))
  await Promise.race([Promise.all(logs.map(({ over }) => over)), timeout])
  clearTimeout(timer)
}

async function endRun(
  { hold, giveUp }: RunLog,
  ports: Ports<'log' | 'nowMs' | 'runs' | 'store'>,
): Promise<void> {
  try {
    await giveUp()
    const run = await readRun(hold, hold.turnId, ports.runs)
    if (run === null || (await canRestart(run, ports))) return
    await endRunEarly(hold, GATEWAY_STOPPED, ports)
  } catch (error) {
    ports.log('warn', 'run-not-ended', { turn: hold.turnId, why: errorMessage(error) })
  }
}
