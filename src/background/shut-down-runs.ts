/**
 * Ends the runs of a process that shuts down. Waits up to `graceMs` for them to finish. Then ends the other
 * runs as failed, except background runs without output, which another replica restarts.
 */
import { errorMessage } from '../core/errors/gateway-error.ts'
import { endRunEarly } from './end-run-early.ts'
import type { ProcessActiveRuns } from './active-runs-and-lease.ts'
import { GATEWAY_STOPPED } from './recover-orphaned-run.ts'
import { canRestartRun } from './restart-run.ts'
import type { RunLog } from './event-log/run-event-log.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export async function shutDownRuns(
  activeRuns: ProcessActiveRuns,
  graceMs: number,
  ports: Ports<'idempotency' | 'log' | 'nowMs' | 'runs' | 'store'>,
): Promise<void> {
  await waitForRuns(activeRuns.listLogs(), graceMs)
  // All runs are ended at once, because a run that waits for others might fail meanwhile, e.g. if its
  // upstream connection breaks.
  await Promise.all(activeRuns.listLogs().map((log) => endRun(log, ports)))
}

async function waitForRuns(logs: readonly RunLog[], graceMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))
  await Promise.race([Promise.all(logs.map(({ whenOver }) => whenOver)), timeout])
  clearTimeout(timer)
}

async function endRun(
  { ownedRun, stopWriting }: RunLog,
  ports: Ports<'idempotency' | 'log' | 'nowMs' | 'runs' | 'store'>,
): Promise<void> {
  try {
    await stopWriting()
    const run = await ports.runs.readLog(ownedRun, ownedRun.turnId, 0)
    if (run === null || (await canRestartRun(run, ports))) return
    await endRunEarly(ownedRun, GATEWAY_STOPPED, ports)
  } catch (error) {
    ports.log('warn', 'run-not-ended', { turn: ownedRun.turnId, why: errorMessage(error) })
  }
}
